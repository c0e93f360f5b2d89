import { connect } from "node:net";
import type { Store } from "@xo-server/store";
import { ProviderSettings } from "../auth/sign-in/provider-settings.js";
import type { Config } from "../config/config.js";
import { urlHost } from "../config/url-host.js";
import { ok, warning, type Result } from "./finding.js";

const TIMEOUT_MS = 5_000;
const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  "ldap:": 389,
  "ldaps:": 636,
  "http:": 80,
  "https:": 443,
  "tcp:": 601,
  "tls:": 6_514,
};

/** A program of others that the server connects to. */
interface Service {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** Where its address is configured. */
  readonly key: string;
}

/**
 * Whether the other programs that are configured accept connections. Nothing is sent to them.
 * @param store undefined: only the providers of config.yaml are known
 */
export function checkServices(
  config: Config,
  store: Pick<Store, "plugins" | "users"> | undefined,
): Promise<Result[]> {
  return Promise.all(
    [...ownServices(config), ...providers(config, store)].map(checkService),
  );
}

function ownServices({ mail, audit, telemetry }: Config): Service[] {
  const { host, port } = mail;
  return [
    ...(host === "" ? [] : [{ name: "mail", host, port, key: "mail.host" }]),
    ...audit.forward.flatMap(({ name, url }) =>
      toServices(`audit target ${name}`, url, "audit.forward"),
    ),
    ...toServices("telemetry", telemetry.url, "telemetry.url"),
  ];
}

function providers(
  { ldap, oidc, saml }: Config,
  store: Pick<Store, "plugins" | "users"> | undefined,
): Service[] {
  const effective =
    store === undefined
      ? { ldap, oidc }
      : effectiveProviders(new ProviderSettings(store, { ldap, oidc, saml }));
  return [
    ...(effective.ldap?.urls ?? []).flatMap((url) =>
      toServices("LDAP", url, "ldap.urls"),
    ),
    ...toServices(
      "OpenID Connect",
      effective.oidc?.issuer ?? "",
      "oidc.issuer",
    ),
  ];
}

function effectiveProviders(settings: ProviderSettings) {
  return { ldap: settings.effective("ldap"), oidc: settings.effective("oidc") };
}

/** @returns none: no URL, or one without a connection (udp:, file:) */
function toServices(name: string, text: string, key: string): Service[] {
  if (!URL.canParse(text)) return [];
  const url = new URL(text);
  const { protocol, port } = url;
  const host = urlHost(url);
  const defaultPort = DEFAULT_PORTS[protocol];
  return defaultPort === undefined || host === ""
    ? []
    : [{ name, host, port: Number(port || defaultPort), key }];
}

async function checkService(service: Service): Promise<Result> {
  const { name, host, port, key } = service;
  const address = `${name}: ${host.includes(":") ? `[${host}]` : host}:${port}`;
  const reason = await tryConnect(service);
  return reason === undefined
    ? ok(`${address} accepts connections`)
    : warning(
        `${address} cannot be reached: ${reason}`,
        `check ${key}, whether the program runs there, DNS and firewall`,
      );
}

/** @returns why no connection was established; undefined: it was */
function tryConnect({ host, port }: Service): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: TIMEOUT_MS });
    const end = (reason: string | undefined) => {
      socket.destroy();
      resolve(reason);
    };
    socket.once("connect", () => end(undefined));
    socket.once("timeout", () => end(`no answer in ${TIMEOUT_MS / 1000} s`));
    socket.once("error", (error: NodeJS.ErrnoException) =>
      // An error of several addresses has no message.
      end(error.message === "" ? (error.code ?? "") : error.message),
    );
  });
}
