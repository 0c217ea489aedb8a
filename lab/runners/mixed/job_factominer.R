# From a messy file of customers to explained groups, outliers, and labels for next month's file, with FactoMineR. Usage: job_factominer.R FILE NEXT OUT
suppressPackageStartupMessages(library(FactoMineR))
arguments <- commandArgs(trailingOnly = TRUE)
out <- arguments[3]
dir.create(out, showWarnings = FALSE, recursive = TRUE)

# Which columns are measures, which are skewed and which have a currency or a per cent sign: seen by looking at the file.
measures <- c("Umsatz", "Besuche", "Warenkorb", "Rabatt", "Antwortzeit", "Alter")
skewed <- c("Umsatz", "Besuche", "Warenkorb", "Antwortzeit")
categories <- c("Land", "Notiz", "Mitglied")

read <- function(path) {
  table <- read.csv(path, sep = ";", na.strings = c("", "N/A", "-"), colClasses = "character", fileEncoding = "UTF-8")
  for (name in measures) {
    table[[name]] <- as.numeric(gsub(",", ".", gsub("[^0-9,]", "", table[[name]])))
  }
  table[skewed] <- log1p(table[skewed])
  table$Beitritt <- as.Date(table$Beitritt, "%d.%m.%Y")
  table
}

table <- read(arguments[1])
means <- colMeans(table[measures], na.rm = TRUE)
filled <- function(table) {
  for (name in measures) table[[name]][is.na(table[[name]])] <- means[name]
  table
}
active <- filled(table)
active[categories] <- lapply(active[categories], function(texts) factor(ifelse(is.na(texts), "none", texts)))

# Categories explain the clusters; they do not form them.
axes <- PCA(active[c(measures, categories)], quali.sup = seq(length(measures) + 1, length.out = length(categories)), ncp = length(measures), graph = FALSE)
groups <- HCPC(axes, nb.clust = -1, graph = FALSE)
labels <- as.integer(groups$data.clust$clust)
write.csv(data.frame(id = table$Kundennr, cluster = labels), file.path(out, "labels.csv"), row.names = FALSE)

coordinates <- axes$ind$coord
centers <- rowsum(coordinates, labels) / as.vector(table(labels))
distances <- function(points) sapply(seq_len(nrow(centers)), function(k) sqrt(rowSums(sweep(points, 2, centers[k, ])^2)))
distance <- apply(distances(coordinates), 1, min)
limit <- quantile(distance, 0.75) + 3 * IQR(distance)
far <- order(-distance)
far <- far[distance[far] > limit]
write.csv(data.frame(id = table$Kundennr[far], distance = distance[far]), file.path(out, "outliers.csv"), row.names = FALSE)

marks <- c(groups$desc.var$quanti, groups$desc.var$category)
print(marks)
lines <- lapply(names(marks), function(cluster) data.frame(cluster = cluster, mark = rownames(marks[[cluster]]), v.test = marks[[cluster]][, "v.test"]))
write.csv(do.call(rbind, lines), file.path(out, "explained.csv"), row.names = FALSE)

later <- read(arguments[2])
cat("columns that changed:", setdiff(union(names(table), names(later)), intersect(names(table), names(later))), "\n")
points <- predict(axes, filled(later)[measures])$coord
write.csv(data.frame(id = later$Kundennr, cluster = apply(distances(points), 1, which.min)), file.path(out, "next.csv"), row.names = FALSE)
