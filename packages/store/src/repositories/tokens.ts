import { createHash, randomBytes } from "node:crypto";
import { XoError } from "@xo-server/model";
import type { WriteUnit } from "../commit/write-unit.js";
import { checkText, limits } from "../schema/limits.js";
import type { TokenRow } from "../schema/tables.js";
import type { RepositoryContext } from "./repository-context.js";
import { TokenUses } from "./token-uses.js";

const DAY_MS = 24 * 3_600_000;
/** Uses of tokens at another server are in the database by then, in ms. */
const UNWRITTEN_MS = 2 * 60_000;

/** Lifetime of a token, in ms. */
export const tokenLifetime = {
  defaultMs: 30 * DAY_MS,
  minMs: 60_000,
  maxMs: 183 * DAY_MS,
} as const;

/**
 * How the identity of the owner was proven when the token was created: by a password and a code
 * (`secondFactor`), by an identity provider with rules of its own, by an administrator who created the
 * token for another user, or by less than these (`""`, also of tokens of earlier versions).
 */
export type TokenProof = "" | "secondFactor" | "provider" | "administrator";

/** A stored token, without its text, which only its owner has. */
export interface Token {
  readonly id: string;
  readonly userId: string;
  readonly clientId?: string;
  readonly description: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Accurate to a minute. */
  readonly lastUsedAt?: number;
  readonly lastAddress?: string;
  readonly proof: TokenProof;
  /** The token ends after this time without use, in ms. Absent: no limit. */
  readonly idleMs?: number;
}

export interface NewToken {
  readonly userId: string;
  readonly description?: string;
  /** A client has one token per user: a new request extends and returns the same token. */
  readonly clientId?: string;
  readonly expiresInMs?: number;
  /** Default: `""`. */
  readonly proof?: TokenProof;
  /** See Token. */
  readonly idleMs?: number;
}

/**
 * Tokens. Only their SHA-256 is stored: 256 random bits need no slow hash. The
 * token of a client must be the same when it is requested again, so it is derived
 * from a salt in its row and a key that is not in the database.
 */
export class Tokens {
  readonly #context: RepositoryContext;
  readonly #uses: TokenUses;

  constructor(context: RepositoryContext, uses: TokenUses) {
    this.#context = context;
    this.#uses = uses;
  }

  /** Finds a valid token by its text. */
  find(text: string): Token | undefined {
    const { tables, clock } = this.#context;
    const [row] = tables.tokens.withKey("hash", hashOf(text));
    const token = row && this.#toToken(row);
    return token !== undefined && endOf(token) > clock.now()
      ? token
      : undefined;
  }

  get(id: string): Token | undefined {
    const row = this.#context.tables.tokens.get(id);
    return row && this.#toToken(row);
  }

  *ofUser(userId: string): IterableIterator<Token> {
    for (const row of this.#context.tables.tokens.withKey("user", userId))
      yield this.#toToken(row);
  }

  /**
   * @returns `text`: the token, 43 characters, returned only here
   * @throws XoError NO_SUCH_OBJECT for the user, LIMIT_REACHED, INVALID_PARAMETERS, STORE_UNAVAILABLE
   */
  async create(
    token: NewToken,
  ): Promise<{ readonly text: string; readonly token: Token }> {
    const { tables, committer, clock } = this.#context;
    const { userId, clientId, description = "", expiresInMs } = token;
    tables.users.require(userId);
    checkText("the description", description);
    checkText("the client", clientId ?? "");
    const expires_at = clock.now() + checkLifetime(expiresInMs);
    const columns = {
      user_id: userId,
      description,
      expires_at,
      proof: token.proof ?? "",
      idle_ms: token.idleMs ?? null,
    };
    const { text, row } = await committer.run((unit) =>
      clientId === undefined
        ? this.#insert(unit, { ...columns, client_id: null })
        : this.#renew(unit, { ...columns, client_id: clientId }),
    );
    return { text, token: this.#toToken(row) };
  }

  /** @throws XoError NO_SUCH_OBJECT, VALUE_TOO_LARGE, INVALID_PARAMETERS, STORE_UNAVAILABLE */
  async describe(id: string, description: string): Promise<void> {
    const { tables, committer } = this.#context;
    tables.tokens.require(id);
    checkText("the description", description);
    await committer.run((unit) =>
      tables.tokens.update(unit, id, { description }),
    );
  }

  /** The owner has proven more since the token was created. @throws XoError NO_SUCH_OBJECT, STORE_UNAVAILABLE */
  async setProof(id: string, proof: TokenProof): Promise<void> {
    const { tables, committer } = this.#context;
    tables.tokens.require(id);
    await committer.run((unit) => tables.tokens.update(unit, id, { proof }));
  }

  /** Records the use of a token; written at most once a minute. */
  touch(id: string, address?: string): void {
    this.#uses.note(id, address);
  }

  /** @throws XoError NO_SUCH_OBJECT, STORE_UNAVAILABLE */
  async delete(id: string): Promise<void> {
    const { tables, committer } = this.#context;
    tables.tokens.require(id);
    await committer.run((unit) => tables.tokens.remove(unit, id));
  }

  /** @param exceptId token to keep, such as that of the caller */
  async deleteOfUser(userId: string, exceptId?: string): Promise<void> {
    const { tables, committer } = this.#context;
    const ids = Array.from(this.ofUser(userId), ({ id }) => id);
    await committer.run(async (unit) => {
      for (const id of ids)
        if (id !== exceptId) await tables.tokens.removeWhere(unit, "id", id);
    });
  }

  /** Deletes expired tokens, and sessions beyond the idle limit. @returns number of deleted tokens */
  async deleteExpired(): Promise<number> {
    const { tables, committer, clock } = this.#context;
    const now = clock.now();
    return committer.run(async (unit) => {
      const gone = await unit.sql
        .deleteFrom("tokens")
        .where((has) =>
          has.or([
            has("expires_at", "<=", now),
            has(
              has.fn.coalesce("last_used_at", "created_at"),
              "<=",
              has(has.val(now - UNWRITTEN_MS), "-", has.ref("idle_ms")),
            ),
          ]),
        )
        .returning("id")
        .execute();
      for (const { id } of gone)
        unit.addChange({ target: tables.tokens, id, row: undefined });
      return gone.length;
    });
  }

  /** Extends the token of the client, or creates a new one. */
  async #renew(unit: WriteUnit, columns: Wanted): Promise<Made> {
    const { tables, vault } = this.#context;
    const known = await unit.sql
      .selectFrom("tokens")
      .selectAll()
      .where("user_id", "=", columns.user_id)
      .where("client_id", "=", columns.client_id)
      .executeTakeFirst();
    if (known === undefined) return this.#insert(unit, columns);
    const text = vault.deriveToken(TOKEN_PURPOSE, known.salt ?? "");
    // The holder of the old token must not get more rights than the token was created with.
    if (hashOf(text) === known.hash && known.proof === columns.proof)
      return { text, row: await tables.tokens.update(unit, known.id, columns) };
    // Otherwise the key was rotated, so the same token cannot be derived.
    await tables.tokens.removeWhere(unit, "id", known.id);
    return this.#insert(unit, columns);
  }

  async #insert(unit: WriteUnit, columns: Wanted): Promise<Made> {
    const { tables, vault, clock, createId } = this.#context;
    const { user_id, client_id } = columns;
    if (tables.tokens.withKey("user", user_id).size >= limits.tokensPerUser)
      throw new XoError("LIMIT_REACHED", {
        limit: limits.tokensPerUser,
        what: "tokens of one user",
      });
    const chance = randomBytes(32).toString("base64url");
    const text =
      client_id === null ? chance : vault.deriveToken(TOKEN_PURPOSE, chance);
    const row = await tables.tokens.insert(unit, {
      ...columns,
      id: createId(),
      hash: hashOf(text),
      salt: client_id === null ? null : chance,
      created_at: clock.now(),
      last_used_at: null,
      last_address: null,
    });
    return { text, row };
  }

  #toToken(row: TokenRow): Token {
    const lastUsedAt = this.#uses.timeOf(row.id) ?? row.last_used_at;
    return {
      id: row.id,
      userId: row.user_id,
      ...(row.client_id === null ? {} : { clientId: row.client_id }),
      description: row.description,
      createdAt: row.created_at,
      expiresAt: row.expires_at,
      ...(lastUsedAt === null ? {} : { lastUsedAt }),
      ...(row.last_address === null ? {} : { lastAddress: row.last_address }),
      proof: row.proof as TokenProof,
      ...(row.idle_ms === null ? {} : { idleMs: row.idle_ms }),
    };
  }
}

type Wanted = Pick<
  TokenRow,
  "user_id" | "client_id" | "description" | "expires_at" | "proof" | "idle_ms"
>;

/** Returns when a token expires if it is not used again, in ms since the epoch. */
export function endOf(
  token: Pick<Token, "createdAt" | "lastUsedAt" | "expiresAt" | "idleMs">,
): number {
  const { createdAt, lastUsedAt = createdAt, expiresAt, idleMs } = token;
  return idleMs === undefined
    ? expiresAt
    : Math.min(expiresAt, lastUsedAt + idleMs);
}

interface Made {
  readonly text: string;
  readonly row: TokenRow;
}

const TOKEN_PURPOSE = "token of a client";

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function checkLifetime(ms: number = tokenLifetime.defaultMs): number {
  if (ms >= tokenLifetime.minMs && ms <= tokenLifetime.maxMs)
    return Math.floor(ms);
  throw new XoError("INVALID_PARAMETERS", {
    reason: `the lifetime of a token is ${tokenLifetime.minMs} to ${tokenLifetime.maxMs} ms`,
  });
}
