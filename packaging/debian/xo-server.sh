#!/bin/sh
# xo-server as an administrator calls it: with the configuration and as the user of the
# service. A file of root in the data folder would keep the service from starting.
: "${XO_CONFIG:=/etc/xo-server/config.yaml}"
: "${CREDENTIALS_DIRECTORY:=/run/credentials/xo-server.service}"
export XO_CONFIG CREDENTIALS_DIRECTORY
if [ "$(id -u)" = 0 ]; then
  # The environment of the unit, such as XO_STORE.
  if [ -r /etc/default/xo-server ]; then
    set -a
    . /etc/default/xo-server
    set +a
  fi
  exec runuser -u xo-server -- /usr/bin/node /usr/lib/xo-server/bin/xo-server "$@"
fi
exec /usr/bin/node /usr/lib/xo-server/bin/xo-server "$@"
