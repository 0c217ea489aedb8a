#!/bin/sh
# From a messy file of customers to explained groups, outliers, and labels for next month's file. Usage: job_lehr.sh FILE NEXT OUT
lehr cluster "$1" --auto --id Kundennr --quiet --out "$3"
lehr predict "$3/model.json" "$2" --id Kundennr --out "$3/next.csv"
