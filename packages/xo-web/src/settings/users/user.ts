/** As `user.getAll`, `group.getAll`, `role.list` and `privilege.getAll` return them. Times in ms since the epoch. */
export interface User {
  readonly id: string;
  readonly name: string;
  readonly permission: string;
  readonly groups: readonly string[];
  readonly hasPassword: boolean;
  readonly hasTotp: boolean;
  /** A second factor is required of the user, who has none. */
  readonly needsSecondFactor: boolean;
  readonly authProviders?: Readonly<Record<string, { readonly id: string }>>;
}

export interface UserGroup {
  readonly id: string;
  readonly name: string;
  readonly users: readonly string[];
  /** The provider that manages the members, such as ldap. */
  readonly provider?: string;
}

export interface Role {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  /** Built in and not editable. */
  readonly isTemplate?: boolean;
}

export interface Privilege {
  readonly id: string;
  readonly roleId: string;
  readonly effect: string;
  readonly resource: string;
  readonly action: string;
  readonly selector?: string;
}

/** Access of one subject to one object, at one level. */
export interface Acl {
  readonly id: string;
  readonly subject: string;
  readonly object: string;
  readonly action: string;
}

export interface Token {
  readonly id: string;
  readonly user_id: string;
  readonly created_at: number;
  readonly expiration: number;
  readonly description?: string;
  readonly client?: { readonly id: string };
  readonly last_use?: { readonly timestamp: number; readonly ip?: string };
  /** The session of this page. */
  readonly isCurrent?: boolean;
}

type TokenState = "valid" | "ending" | "ended";

const SOON_MS = 7 * 86_400_000;

/** @param now in ms since the epoch */
export function tokenState({ expiration }: Token, now: number): TokenState {
  if (expiration <= now) return "ended";
  return expiration - now < SOON_MS ? "ending" : "valid";
}

/** The current session first, then the most recently used, never used last. */
export function byUse(tokens: readonly Token[]): readonly Token[] {
  const usedAt = ({ last_use }: Token) => last_use?.timestamp ?? 0;
  const rank = ({ isCurrent = false }: Token) => (isCurrent ? 0 : 1);
  return tokens.toSorted(
    (a, b) =>
      rank(a) - rank(b) || usedAt(b) - usedAt(a) || b.created_at - a.created_at,
  );
}

/** Tokens of sign-ins at the page have neither a description nor a client. */
export function isBrowserSession({ description, client }: Token): boolean {
  return description === undefined && client === undefined;
}

const SHOWN_SESSIONS = 3;

/** Each sign-in at the page creates a token: of a list by use, all but the first few of these are folded. */
export function foldedSessions(tokens: readonly Token[]): readonly Token[] {
  return tokens.filter(isBrowserSession).slice(SHOWN_SESSIONS);
}

/** Rows whose names contain the search text. */
export function named<T extends { readonly name: string }>(
  all: readonly T[],
  search: string,
): readonly T[] {
  const text = search.trim().toLowerCase();
  return all
    .filter(({ name }) => name.toLowerCase().includes(text))
    .toSorted((a, b) => a.name.localeCompare(b.name));
}
