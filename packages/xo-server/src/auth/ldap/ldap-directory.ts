import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import {
  InvalidCredentialsError,
  ResultCodeError,
  type Client,
  type Entry,
} from "ldapts";
import type { Config } from "../../config/config.js";
import type { Logger } from "../../log/logger.js";
import type {
  Directory,
  ExternalIdentity,
  ProviderPolicy,
} from "../providers/provider.js";
import { readConfigSecret } from "../providers/read-secret.js";
import { withLdapConnection } from "./ldap-connection.js";
import { fillFilter, isCanonicalName, memberFilter } from "./ldap-filter.js";

/** Maximum number of groups of a user. */
const MAX_GROUPS = 1_000;
/** Maximum number of concurrent sign-ins by LDAP. */
const MAX_CONCURRENT = 64;

export interface LdapDirectoryOptions {
  readonly ldap: Config["ldap"];
  readonly clock: Pick<WallClock, "setTimeout" | "clearTimeout">;
  readonly logger: Logger;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** An LDAP directory: searches the entry of a user and binds with the password. */
export class LdapDirectory implements Directory {
  readonly policy: ProviderPolicy;
  readonly #options: LdapDirectoryOptions;
  /** The URL that last answered comes first. */
  #urls: readonly string[];
  #running = 0;

  constructor(options: LdapDirectoryOptions) {
    this.#options = options;
    const { urls, adminGroup, linkByName } = options.ldap;
    this.#urls = urls;
    this.policy = { provider: "ldap", adminGroup, linkByName };
  }

  async verify(
    name: string,
    password: string,
  ): Promise<ExternalIdentity | undefined> {
    // A bind with a name and an empty password succeeds as anonymous (RFC 4513, 5.1.2).
    if (password === "" || !isCanonicalName(name)) return undefined;
    if (this.#running >= MAX_CONCURRENT)
      throw new XoError("TOO_MANY_REQUESTS", { reason: "sign-ins by LDAP" });
    this.#running++;
    try {
      return await this.#query((client) =>
        this.#verify(client, name, password),
      );
    } finally {
      this.#running--;
    }
  }

  /**
   * The entry of a user, without a password.
   * @returns its distinguished name; undefined: none, or more than one
   * @throws XoError PROVIDER_UNAVAILABLE
   */
  async find(name: string): Promise<string | undefined> {
    if (!isCanonicalName(name)) return undefined;
    return this.#query(async (client) => {
      await this.#bindAsService(client);
      return (await this.#findEntry(client, name))?.dn;
    });
  }

  /** Tries the servers in order until one answers. */
  async #query<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const { ldap, clock, logger } = this.#options;
    const reasons: string[] = [];
    for (const url of this.#urls)
      try {
        const answer = await withLdapConnection({ ldap, url, clock }, work);
        this.#urls = [url, ...this.#urls.filter((other) => other !== url)];
        return answer;
      } catch (error) {
        logger.warn(`LDAP server ${url} failed`, { error });
        reasons.push(toReason(error));
      }
    const reason = [...new Set(reasons)].join("; ");
    throw new XoError("PROVIDER_UNAVAILABLE", { provider: "LDAP", reason });
  }

  async #verify(
    client: Client,
    name: string,
    password: string,
  ): Promise<ExternalIdentity | undefined> {
    await this.#bindAsService(client);
    const entry = await this.#findEntry(client, name);
    if (entry === undefined) return undefined;
    if (!(await this.#isPassword(client, entry.dn, password))) return undefined;
    const identity = this.#toIdentity(entry);
    if (this.#options.ldap.groups.base === "")
      return { ...identity, groups: undefined };
    await this.#bindAsService(client);
    return { ...identity, groups: await this.#findGroups(client, entry) };
  }

  async #bindAsService(client: Client): Promise<void> {
    const { ldap, env } = this.#options;
    const password =
      ldap.bindDn === ""
        ? ""
        : await readConfigSecret(ldap, "bindPassword", env);
    await client.bind(ldap.bindDn, password);
  }

  async #findEntry(client: Client, name: string): Promise<Entry | undefined> {
    const { ldap, logger } = this.#options;
    const { groups } = ldap;
    const { searchEntries } = await client.search(ldap.base, {
      filter: fillFilter(ldap.filter, { name }),
      attributes: [ldap.nameAttribute, ldap.idAttribute, groups.memberIs],
      explicitBufferAttributes: [ldap.idAttribute],
      // A second entry means that the name is ambiguous.
      sizeLimit: 2,
    });
    if (searchEntries.length < 2) return searchEntries[0];
    logger.warn("LDAP search for a user name is ambiguous", { name });
    return undefined;
  }

  async #isPassword(
    client: Client,
    dn: string,
    password: string,
  ): Promise<boolean> {
    try {
      await client.bind(dn, password);
      return true;
    } catch (error) {
      if (error instanceof InvalidCredentialsError) return false;
      if (!(error instanceof ResultCodeError)) throw error;
      // The account is locked or expired, or may not sign in.
      this.#options.logger.warn(`LDAP bind as ${dn} failed`, { error });
      return false;
    }
  }

  #toIdentity(entry: Entry): Pick<ExternalIdentity, "id" | "name"> {
    const { idAttribute, nameAttribute } = this.#options.ldap;
    const id = valuesOf(entry, idAttribute)[0];
    const name = valuesOf(entry, nameAttribute)[0];
    if (id === undefined || name === undefined)
      throw new XoError("CONFIG_INVALID", {
        where: id === undefined ? "ldap.idAttribute" : "ldap.nameAttribute",
        reason: `${entry.dn} has no such attribute`,
      });
    return { id: toText(id), name: toText(name) };
  }

  async #findGroups(client: Client, entry: Entry): Promise<string[]> {
    const { base, filter, ...groups } = this.#options.ldap.groups;
    const isDn = groups.memberIs === "dn";
    const member = isDn ? entry.dn : valuesOf(entry, groups.memberIs)[0];
    if (member === undefined) return [];
    const { searchEntries } = await client.search(base, {
      filter: memberFilter(filter, groups.memberAttribute, toText(member)),
      attributes: [groups.nameAttribute],
      sizeLimit: MAX_GROUPS,
    });
    return searchEntries
      .flatMap((group) => valuesOf(group, groups.nameAttribute).slice(0, 1))
      .map(toText);
  }
}

/** Attribute names are case-insensitive. */
function valuesOf(entry: Entry, attribute: string): (string | Buffer)[] {
  const lowerName = attribute.toLowerCase();
  const found = Object.entries(entry).find(
    ([name]) => name.toLowerCase() === lowerName,
  );
  const value = found?.[1] ?? [];
  return Array.isArray(value) ? value : [value];
}

/** Binary values, such as objectGUID of Active Directory, in hexadecimal. */
function toText(value: string | Buffer): string {
  if (typeof value === "string") return value;
  const text = value.toString("utf8");
  return Buffer.from(text).equals(value) && /^[\x20-\x7e]+$/.test(text)
    ? text
    : value.toString("hex");
}

/** A short reason for the user, without internal details. */
function toReason(error: unknown): string {
  if (error instanceof XoError) return error.code;
  if (error instanceof ResultCodeError) return error.name;
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" ? code : "no answer";
}
