#!/usr/bin/env bash
# Installs what test/clients and test/peers drive into a folder, each by its
# ordinary client: npm, pip, go (1.25.8 or newer), mvn. None of it is part of
# xo-server. A client that cannot be installed leaves its reason in
# FOLDER/NAME.failed, which its tests give for skipping.
#   test/clients/get-clients.sh             # into the folder that tests look in
#   test/clients/get-clients.sh FOLDER      # then XO_CLIENTS=FOLDER for the tests
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-${XO_CLIENTS:-$HOME/.cache/xo-clients}}
mkdir -p "$folder"
to=$(cd "$folder" && pwd)
# What is installed is installed again when this script or the Go programs change.
version=$(cat "$here"/get-clients.sh "$here"/go/go.* "$here"/go/*/*.go | sha256sum)

get_npm() {
  npm install --prefix "$to/npm" --ignore-scripts --no-audit --no-fund \
    xo-lib@0.9.0 @xen-orchestra/mcp@1.4.2
}

# A Python of its own for each, as they want different versions of the same packages.
# Most of Ansible is never loaded: only modules that are loaded are compiled, when they are.
get_venv() {
  python3 -m venv "$to/$1"
  "$to/$1/bin/pip" install --quiet --disable-pip-version-check --no-compile "${@:2}"
}
get_python() { get_venv python ansible==12.3.0 websocket-client xcpng-aiops==0.10.0; }
get_schemathesis() { get_venv schemathesis schemathesis==4.32.5; }
get_xenapi() { get_venv xenapi XenAPI==26.21.1; }

get_java() {
  mkdir -p "$to/java"
  cat >"$to/java/pom.xml" <<POM
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>test</groupId><artifactId>java-sdk</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>com.citrix.hypervisor</groupId><artifactId>xen-api</artifactId><version>8.1.0</version>
  </dependency></dependencies>
</project>
POM
  mvn --quiet --batch-mode -f "$to/java/pom.xml" dependency:copy-dependencies \
    -DoutputDirectory="$to/java/jars"
}

get_go() {
  local sdk=github.com/vatesfr/xenorchestra-go-sdk
  mkdir -p "$to/go"
  cd "$here/go"
  # Without cgo and inlining, compiling takes three quarters of the CPU time.
  export CGO_ENABLED=0 GOFLAGS=-gcflags=all=-l
  go build -o "$to/go/" ./terraform ./kubernetes
  # The SDK's own acceptance tests, as programs.
  go test -c -o "$to/go/sdk-v1.test" $sdk/client
  go test -c -o "$to/go/sdk-v2.test" $sdk/v2/integration
}

# In a process of its own, so that `set -e` holds within the function.
if [ "${GET_CLIENT:-}" != "" ]; then
  "get_$GET_CLIENT"
  exit
fi

for name in npm python schemathesis xenapi java go; do
  [ "$(cat "$to/$name.version" 2>/dev/null)" = "$version" ] && continue
  rm -rf "${to:?}/$name" "$to/$name.version" "$to/$name.failed"
  if GET_CLIENT=$name timeout 300 bash "$here/get-clients.sh" "$to" >"$to/$name.log" 2>&1; then
    echo "$version" >"$to/$name.version"
  else
    rm -rf "${to:?}/$name"
    (grep -v '^ *$' "$to/$name.log" || echo "did not end within 300 s") | tail -n 1 >"$to/$name.failed"
    echo "$name could not be installed: $(cat "$to/$name.failed")"
  fi
done
echo "XO_CLIENTS=$to"
