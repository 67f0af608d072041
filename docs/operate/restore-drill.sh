#!/bin/sh
# Proves that the newest backup of a folder can be used, and measures how long a restore takes (docs/operate/running-live.md):
#
#     sh restore-drill.sh BACKUP_FOLDER [VOUCHER_KEY_FILE]
#
# It restores into a temporary folder and serves nothing, so that no client and no receiver of webhooks notices.
set -eu
backup=$(find "$1" -name 'scrip-*.sqlite' | sort | tail -n 1)
[ -n "$backup" ] || { echo "restore-drill: there is no backup in $1" >&2; exit 1; }
umask 077
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# A key that is set for the server is used as it is.
[ $# -lt 2 ] || cp "$2" "$folder/voucher.key"

began=$(date +%s)
scrip restore "$backup" --data-dir "$folder"
scrip verify --data-dir "$folder"
ended=$(date +%s)

scrip client list --data-dir "$folder"
scrip wallet list --data-dir "$folder"
echo "$backup can be restored: that took $((ended - began)) s."
echo "Restored today, it would lose everything that was written after it."
