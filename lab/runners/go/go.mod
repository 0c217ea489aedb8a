module lehr/lab/runners/go

go 1.25
