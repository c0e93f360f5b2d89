#!/usr/bin/env bash
# Installs what test/clients drives into a folder, each by its ordinary client:
# npm, pip, go (1.25.8 or newer). Nothing of it is part of xo-server.
#   test/clients/get-clients.sh /tmp/xo-clients
#   XO_CLIENTS=/tmp/xo-clients npm test
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:?a folder to install them into}"
to=$(cd "$1" && pwd)

npm install --prefix "$to/npm" --ignore-scripts --no-audit --no-fund \
  xo-lib@0.9.0 @xen-orchestra/mcp@1.4.2

python3 -m venv "$to/python"
"$to/python/bin/pip" install --quiet \
  ansible==12.3.0 websocket-client xcpng-aiops==0.10.0

cd "$here/go"
go build -o "$to/go/" ./terraform ./kubernetes
# The SDK's own acceptance tests, as programs.
sdk=github.com/vatesfr/xenorchestra-go-sdk
go test -c -o "$to/go/sdk-v1.test" $sdk/client
go test -c -o "$to/go/sdk-v2.test" $sdk/v2/integration
echo "XO_CLIENTS=$to"
