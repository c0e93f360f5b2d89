import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { Store, User } from "@xo-server/store";
import type {
  Authenticator,
  Credentials,
  RedirectSignIn,
} from "./authenticator.js";
import { LoginThrottle } from "./login-throttle.js";
import type { PasswordVerifier, VerifiedUser } from "./password-verifier.js";
import { VerifiedPasswords } from "./verified-passwords.js";
import type { AuthenticatedUsers } from "./authenticated-users.js";
import type { Session } from "./session.js";
import type { SignInLog } from "./sign-in-log.js";
import { findTotpStep } from "./totp.js";
import { KeyedMutex } from "./keyed-mutex.js";

export interface SignInServiceOptions {
  readonly store: Pick<Store, "users" | "tokens" | "onChange">;
  readonly users: Pick<AuthenticatedUsers, "get">;
  readonly passwords: Pick<PasswordVerifier, "verify" | "providersOf">;
  readonly log: Pick<SignInLog, "write">;
  readonly clock: Pick<WallClock, "now">;
  /** The provider that verifies passwords besides the local ones. */
  readonly directory?: string | undefined;
  readonly redirect?: RedirectSignIn | undefined;
}

/** Sign-in by token, or by name and password with an optional two-factor code. */
export class SignInService implements Authenticator {
  readonly directory: string | undefined;
  readonly redirect: RedirectSignIn | undefined;
  readonly #options: SignInServiceOptions;
  readonly #throttle: LoginThrottle;
  readonly #verifiedPasswords: VerifiedPasswords;
  readonly #stopListening: () => void;
  /** Serializes attempts per user: concurrent guesses would all pass the throttle. */
  readonly #mutex = new KeyedMutex();

  constructor(options: SignInServiceOptions) {
    this.#options = options;
    this.directory = options.directory;
    this.redirect = options.redirect;
    this.#throttle = new LoginThrottle(options.clock);
    this.#verifiedPasswords = new VerifiedPasswords(options.clock);
    this.#stopListening = options.store.onChange((table) => {
      if (table === "users") this.#verifiedPasswords.clear();
    });
  }

  async byToken(text: string, address: string): Promise<Session> {
    const { store, users: people, clock } = this.#options;
    const token = store.tokens.find(text);
    if (token === undefined) throw new XoError("CREDENTIALS_INVALID");
    const { id, userId } = token;
    store.tokens.touch(id, address);
    return {
      userId,
      tokenId: id,
      user() {
        const now = store.tokens.get(id);
        return now !== undefined && now.expiresAt > clock.now()
          ? people.get(userId)
          : undefined;
      },
    };
  }

  /**
   * @throws XoError TOO_MANY_REQUESTS, PROVIDER_UNAVAILABLE, STORE_UNAVAILABLE (the
   *   use of a two-factor code is stored, because a code is valid once)
   */
  async byPassword(
    credentials: Credentials,
    address: string,
  ): Promise<Session> {
    const { users: people } = this.#options;
    const userId = await this.#serialize(credentials, async () => {
      this.#checkThrottle(credentials, address);
      // After the throttle: a guess against the cache is delayed like any other.
      return (
        this.#findVerified(credentials) ??
        (await this.#authenticate(credentials, address))
      );
    });
    return { userId, user: () => people.get(userId) };
  }

  /** Verifies the password of a signed-in user again. @throws XoError CREDENTIALS_INVALID, TOO_MANY_REQUESTS, PROVIDER_UNAVAILABLE */
  async checkPassword(
    credentials: Credentials,
    address: string,
  ): Promise<void> {
    await this.#serialize(credentials, async () => {
      this.#checkThrottle(credentials, address);
      await this.#verify(credentials, address);
    });
  }

  stop(): void {
    this.#stopListening();
  }

  #findVerified({
    name,
    password,
    isRepeated,
  }: Credentials): string | undefined {
    return isRepeated === true
      ? this.#verifiedPasswords.find(name, password)
      : undefined;
  }

  #serialize<T>({ name }: Credentials, work: () => Promise<T>): Promise<T> {
    // Directories ignore the case of names.
    return this.#mutex.run(name.toLowerCase(), work);
  }

  #checkThrottle({ name }: Credentials, address: string): void {
    const retryAfterMs = this.#throttle.waitMs(name, address);
    if (retryAfterMs > 0)
      throw new XoError("CREDENTIALS_INVALID", { retryAfterMs });
  }

  async #authenticate(
    credentials: Credentials,
    address: string,
  ): Promise<string> {
    const { name, password, isRepeated } = credentials;
    const { log, store, passwords } = this.#options;
    const addVerified = this.#verifiedPasswords.begin(name, password);
    try {
      const { user, provider } = await this.#verify(credentials, address);
      await this.#checkSecondFactor(user, credentials, address);
      this.#throttle.recordSuccess(name);
      if (isRepeated === true && !user.hasTotp) addVerified(user.id);
      await log.write({ address, provider, user });
      return user.id;
    } catch (error) {
      const user = store.users.findByName(name);
      const provider = passwords.providersOf(name);
      await log.write({ address, provider, user, error: error as Error });
      throw error;
    }
  }

  async #verify(
    credentials: Credentials,
    address: string,
  ): Promise<VerifiedUser> {
    const verified = await this.#options.passwords.verify(credentials);
    return verified ?? this.#fail(credentials, address);
  }

  async #checkSecondFactor(
    user: User,
    credentials: Credentials,
    address: string,
  ): Promise<void> {
    if (!user.hasTotp) return;
    const { otp } = credentials;
    if (otp === undefined)
      throw new XoError("CREDENTIALS_INVALID", { otpRequired: true });
    if (!(await this.#isSecondFactor(user, otp)))
      this.#fail(credentials, address);
  }

  #fail({ name }: Credentials, address: string): never {
    this.#throttle.recordFailure(name, address);
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
