# Labels of a table of mixed types by clustMixType and by FactoMineR. Usage: quality.R TABLE MEASURES CLUSTERS SEEDS STARTS OUT
suppressPackageStartupMessages(library(FactoMineR))
arguments <- commandArgs(trailingOnly = TRUE)
table <- read.csv(arguments[1], check.names = FALSE)
measures <- seq_len(as.integer(arguments[2]))
clusters <- as.integer(arguments[3])
table[-measures] <- lapply(table[-measures], factor)
labels <- list()

# Without clustMixType, which CRAN has and Debian has not, its column is missing.
if (requireNamespace("clustMixType", quietly = TRUE)) {
  for (seed in strsplit(arguments[4], ",")[[1]]) {
    set.seed(as.integer(seed))
    found <- clustMixType::kproto(table, clusters, nstart = as.integer(arguments[5]), verbose = FALSE)
    labels[[paste0("k-prototypes_(clustMixType).", seed)]] <- found$cluster
  }
}

# Both steps are without chance: one run stands for all seeds.
axes <- FAMD(table, ncp = 5, graph = FALSE)
labels[["FAMD_+_HCPC_(FactoMineR).0"]] <- as.integer(HCPC(axes, nb.clust = clusters, graph = FALSE, description = FALSE)$data.clust$clust)
labels[["FAMD_+_HCPC_(FactoMineR),_found.0"]] <- as.integer(HCPC(axes, nb.clust = -1, graph = FALSE, description = FALSE)$data.clust$clust)
write.csv(as.data.frame(labels, check.names = FALSE), arguments[6], row.names = FALSE)
