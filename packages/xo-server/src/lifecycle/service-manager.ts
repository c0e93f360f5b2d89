import { execFile } from "node:child_process";
import type { Logger } from "../log/logger.js";

interface ServiceManager {
  /**
   * Reports that the server accepts requests.
   * @param status one line, shown by `systemctl status`
   */
  ready(status: string): void;
  stopping(): void;
}

interface ServiceManagerOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
}

/** Maximum duration of systemd-notify, in ms. */
const LIMIT_MS = 5_000;

/**
 * Reports the state of the process to systemd, if systemd has started it and waits
 * for it (`Type=notify`, $NOTIFY_SOCKET). Node.js cannot write to the datagram
 * socket of systemd, so the program systemd-notify is used
 * (docs/decisions/026-debian-package.md).
 */
export function createServiceManager(
  options: ServiceManagerOptions,
): ServiceManager {
  const socket = options.env["NOTIFY_SOCKET"];
  const send = (...state: readonly string[]) => {
    if (socket !== undefined && socket !== "") notify(state, options);
  };
  return {
    ready: (status) => {
      send("--ready", `--status=${status}`);
    },
    stopping: () => {
      send("STOPPING=1", "STATUS=stopping");
    },
  };
}

function notify(
  state: readonly string[],
  { env, logger }: ServiceManagerOptions,
): void {
  const options = { env: { ...env }, timeout: LIMIT_MS };
  execFile("systemd-notify", state, options, (error) => {
    // Without a notification systemd ends the service after TimeoutStartSec.
    if (error !== null) logger.error("systemd-notify failed", { error });
  });
}
