import type { WallClock } from "@xo-server/kit";
import type { EventEmitter } from "node:events";
import type { SecureVersion, Server } from "node:tls";
import type { Config } from "../../config/config.js";
import type { Logger } from "../../log/logger.js";
import {
  CertificateWatch,
  fileVersionsOf,
  readCertificate,
} from "./certificate-watch.js";
import {
  toSecureSettings,
  type KeyPair,
  type SecureSettings,
} from "./key-pair.js";
import { loadSelfSigned } from "./self-signed.js";

interface TlsOptions {
  readonly http: Pick<Config["http"], "host" | "tls">;
  readonly dataDir: string;
  readonly clock: WallClock;
  readonly logger: Logger;
  /** Source of SIGHUP; default: the process. */
  readonly signals?: Pick<EventEmitter, "on" | "off">;
}

/** The current TLS certificate of the server. */
export class Tls {
  readonly minVersion: SecureVersion;
  readonly #logger: Logger;
  #pair: KeyPair;
  #server: Pick<Server, "setSecureContext"> | undefined;
  #stop: () => void = () => undefined;

  constructor(pair: KeyPair, minVersion: SecureVersion, logger: Logger) {
    this.#pair = pair;
    this.minVersion = minVersion;
    this.#logger = logger;
    this.#log("TLS certificate loaded");
  }

  get settings(): SecureSettings {
    return toSecureSettings(this.#pair, this.minVersion);
  }

  /** SHA-256 of the certificate, hexadecimal with colons. */
  get fingerprint(): string {
    return this.#pair.fingerprint;
  }

  /** When the certificate ends, in ms since the epoch. */
  get expiresAt(): number {
    return this.#pair.expiresAt;
  }

  /** New connections of `server` use the current certificate, also after it has been replaced. */
  attach(server: Pick<Server, "setSecureContext">): void {
    this.#server = server;
    server.setSecureContext(this.settings);
  }

  replace(pair: KeyPair): void {
    this.#pair = pair;
    this.#server?.setSecureContext(this.settings);
    this.#log("TLS certificate replaced");
  }

  stopWith(stop: () => void): void {
    this.#stop = stop;
  }

  stop(): void {
    this.#stop();
  }

  #log(event: string): void {
    const { fingerprint, expiresAt } = this.#pair;
    const until = new Date(expiresAt).toISOString().slice(0, 10);
    this.#logger.info(
      `${event}: SHA-256 fingerprint ${fingerprint}, valid until ${until}`,
    );
  }
}

/** Undefined: plain HTTP. @throws XoError CONFIG_INVALID */
export async function startTls(options: TlsOptions): Promise<Tls | undefined> {
  const { http, dataDir, clock, logger } = options;
  const { certificate, key, selfSigned, minVersion } = http.tls;
  if (selfSigned) {
    const pair = await loadSelfSigned({ dataDir, host: http.host, clock });
    return new Tls(pair, minVersion, logger);
  }
  if (certificate === "") return undefined;
  const files = { certificate, key };
  const seen = await fileVersionsOf(files);
  const tls = new Tls(await readCertificate(files), minVersion, logger);
  const onChange = (pair: KeyPair) => {
    tls.replace(pair);
  };
  const watch = new CertificateWatch(
    { ...files, onChange, clock, logger },
    seen,
  );
  tls.stopWith(reloadAtSignal(watch, options.signals ?? process));
  return tls;
}

/** @returns a function that stops the watch */
function reloadAtSignal(
  watch: CertificateWatch,
  signals: Pick<EventEmitter, "on" | "off">,
): () => void {
  const reload = () => void watch.reload();
  signals.on("SIGHUP", reload);
  return () => {
    signals.off("SIGHUP", reload);
    watch.stop();
  };
}
