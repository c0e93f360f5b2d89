import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { Store, User } from "@xo-server/store";
import type {
  Authenticator,
  Credentials,
  RedirectSignIn,
} from "./authenticator.js";
import type { ExternalProviders } from "./external-providers.js";
import { KnownAddresses, toPair } from "./known-addresses.js";
import type { ThrottledAttempt } from "./login-throttle.js";
import {
  SignInThrottle,
  type AdmittedAttempt,
  type SignInThrottleOptions,
} from "./sign-in-throttle.js";
import { SignInQueue } from "./sign-in-queue.js";
import { toRateKey } from "../../limits/rate-limits.js";
import type { PasswordVerifier, VerifiedUser } from "./password-verifier.js";
import { VerifiedPasswords } from "./verified-passwords.js";
import type { Session } from "../sessions/session.js";
import {
  tokenWithoutSecondFactor,
  type SecondFactorPolicy,
} from "../second-factor/second-factor-policy.js";
import type {
  SessionKey,
  StoredSessions,
} from "../sessions/stored-sessions.js";
import type { SignInLog } from "./sign-in-log.js";
import { findTotpStep } from "../second-factor/totp.js";
import { KeyedMutex } from "./keyed-mutex.js";

interface SignInServiceOptions {
  readonly store: Pick<Store, "users" | "tokens" | "onChange">;
  readonly sessions: StoredSessions;
  readonly policy: SecondFactorPolicy;
  readonly passwords: Pick<PasswordVerifier, "verify" | "providersOf">;
  readonly log: Pick<SignInLog, "write">;
  readonly clock: WallClock;
  /**
   * Counts failed attempts across all servers of the database. Absent: there is
   * only one server.
   */
  readonly attempts?: SignInThrottleOptions["shared"];
  /** Absent: local passwords only. */
  readonly providers?: Pick<ExternalProviders, "directory" | "redirects">;
}

/** Sign-in by token, or by name and password with an optional two-factor code. */
export class SignInService implements Authenticator {
  readonly #options: SignInServiceOptions;
  readonly #throttle: SignInThrottle;
  readonly #verifiedPasswords: VerifiedPasswords;
  readonly #stopListening: () => void;
  /** Serializes attempts per user: concurrent guesses would all pass the throttle. */
  readonly #mutex = new KeyedMutex();
  readonly #queue = new SignInQueue();
  readonly #knownAddresses: KnownAddresses;

  constructor(options: SignInServiceOptions) {
    this.#options = options;
    const { clock, attempts } = options;
    this.#throttle = new SignInThrottle({
      clock,
      ...(attempts === undefined ? {} : { shared: attempts }),
    });
    this.#knownAddresses = new KnownAddresses(options.store);
    this.#verifiedPasswords = new VerifiedPasswords(options.clock);
    this.#stopListening = options.store.onChange((table) => {
      if (table === "users") this.#verifiedPasswords.clear();
    });
  }

  /** Name of the provider that verifies passwords in addition to the local ones. */
  get directory(): string | undefined {
    return this.#options.providers?.directory?.policy.provider;
  }

  get redirects(): readonly RedirectSignIn[] {
    return this.#options.providers?.redirects ?? [];
  }

  async byToken(
    text: string,
    address: string,
    { countsAsUse = true } = {},
  ): Promise<Session> {
    const { store, sessions, policy } = this.#options;
    const token = await sessions.findToken(text);
    if (token === undefined) throw new XoError("CREDENTIALS_INVALID");
    const { id: tokenId, userId } = token;
    const session = sessions.of({ userId, tokenId });
    const user = store.users.get(userId);
    if (user && policy.accessOf(user, token.proof) === "ended")
      throw tokenWithoutSecondFactor();
    if (countsAsUse) store.tokens.touch(tokenId, address);
    return session;
  }

  /**
   * @throws XoError SIGN_IN_THROTTLED, TOO_MANY_REQUESTS, PROVIDER_UNAVAILABLE, STORE_UNAVAILABLE
   *   (the use of a two-factor code is stored, because a code is valid once), ABORTED
   * @param disconnected aborted when the client has disconnected: the attempt is abandoned
   */
  async byPassword(
    credentials: Credentials,
    address: string,
    disconnected?: AbortSignal,
  ): Promise<Session> {
    const attempt = this.#toAttempt(credentials, address);
    this.#throttle.checkHere(attempt);
    // Queued and throttled like any other attempt, because the cache could be used
    // to guess passwords.
    const proven = await this.#enqueue(
      attempt,
      async () =>
        (await this.#findVerified(credentials, attempt)) ??
        (await this.#admit(attempt, (admitted) =>
          this.#authenticate(credentials, attempt, admitted),
        )),
      disconnected,
    );
    return this.#withPassword(this.#options.sessions.of(proven));
  }

  /** The same session, after its user has changed the password in it. */
  withNewPassword(session: Session): Session {
    return session.isPasswordChanged === undefined
      ? session
      : this.#withPassword(session);
  }

  #withPassword(session: Session): Session {
    const { users } = this.#options.store;
    const tag = users.passwordTag(session.userId);
    return {
      ...session,
      isPasswordChanged: () => users.passwordTag(session.userId) !== tag,
    };
  }

  /** Verifies the password of a signed-in user again. @throws XoError as byPassword does */
  async checkPassword(
    credentials: Credentials,
    address: string,
  ): Promise<void> {
    const attempt = this.#toAttempt(credentials, address);
    await this.#enqueue(attempt, () =>
      this.#admit(attempt, (admitted) => this.#verify(credentials, admitted)),
    );
  }

  stop(): void {
    this.#stopListening();
  }

  /** @throws XoError SIGN_IN_THROTTLED, as for a password that is not found */
  async #findVerified(
    { name, password, isRepeated }: Credentials,
    attempt: ThrottledAttempt,
  ): Promise<SessionKey | undefined> {
    if (isRepeated !== true) return undefined;
    const userId = this.#verifiedPasswords.find(name, password);
    if (userId === undefined) return undefined;
    await this.#throttle.check(attempt);
    return { userId };
  }

  #toAttempt({ name }: Credentials, address: string): ThrottledAttempt {
    const isKnown = this.#knownAddresses.has(name, address);
    return { name, address, isKnown };
  }

  /**
   * Queues a verification. The throttle is checked when its turn comes, because
   * earlier attempts may have failed by then.
   */
  #enqueue<T>(
    attempt: ThrottledAttempt,
    work: () => Promise<T>,
    disconnected?: AbortSignal,
  ): Promise<T> {
    const { name, address, isKnown } = attempt;
    const pair = toPair(name, address);
    const lane = { key: isKnown ? pair : toRateKey(address), isKnown };
    // Directories ignore the case of names.
    const mutexKey = isKnown ? `known ${pair}` : name.toLowerCase();
    return this.#queue.run(
      lane,
      () => this.#mutex.run(mutexKey, work),
      disconnected,
    );
  }

  /** @throws XoError SIGN_IN_THROTTLED, TOO_MANY_REQUESTS; errors of `work` */
  async #admit<T>(
    attempt: ThrottledAttempt,
    work: (admitted: AdmittedAttempt) => Promise<T>,
  ): Promise<T> {
    const admitted = await this.#throttle.begin(attempt);
    try {
      return await work(admitted);
    } finally {
      await admitted.end();
    }
  }

  async #authenticate(
    credentials: Credentials,
    attempt: ThrottledAttempt,
    admitted: AdmittedAttempt,
  ): Promise<SessionKey> {
    const { address } = attempt;
    const { name, password, isRepeated } = credentials;
    const { log, store, passwords } = this.#options;
    const addVerified = this.#verifiedPasswords.begin(name, password);
    try {
      const { user, provider } = await this.#verify(credentials, admitted);
      await this.#checkSecondFactor(user, credentials, admitted);
      await admitted.succeed();
      this.#knownAddresses.add(name, address);
      if (isRepeated === true && !user.hasTotp) addVerified(user.id);
      await log.write({ address, provider, user });
      const { id: userId, hasTotp } = user;
      return { userId, proof: hasTotp ? "secondFactor" : "" };
    } catch (error) {
      const user = store.users.findByName(name);
      const provider = passwords.providersOf(name);
      await log.write({ address, provider, user, error: error as Error });
      throw error;
    }
  }

  async #verify(
    credentials: Credentials,
    admitted: AdmittedAttempt,
  ): Promise<VerifiedUser> {
    const verified = await this.#options.passwords.verify(credentials);
    return verified ?? this.#fail(admitted);
  }

  async #checkSecondFactor(
    user: User,
    credentials: Credentials,
    admitted: AdmittedAttempt,
  ): Promise<void> {
    if (!user.hasTotp) return;
    const { otp } = credentials;
    if (otp === undefined)
      throw new XoError("CREDENTIALS_INVALID", { otpRequired: true });
    if (!(await this.#isSecondFactor(user, otp))) await this.#fail(admitted);
  }

  async #fail(admitted: AdmittedAttempt): Promise<never> {
    await admitted.fail();
    throw new XoError("CREDENTIALS_INVALID");
  }

  async #isSecondFactor(user: User, otp: string): Promise<boolean> {
    const { store, clock } = this.#options;
    const secret = store.users.totpSecret(user.id);
    if (secret === undefined) return false;
    const step = findTotpStep(secret, otp, clock.now());
    return step !== undefined && store.users.useTotpStep(user.id, step);
  }
}
