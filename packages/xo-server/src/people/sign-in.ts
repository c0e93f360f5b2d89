import { XoError } from "@xo-server/model";
import type { Store, User } from "@xo-server/store";
import type { Clock } from "../clock.js";
import type { Authenticator, Credentials } from "./authenticator.js";
import { LoginThrottle } from "./login-throttle.js";
import type { People } from "./people.js";
import type { Session } from "./session.js";
import { findTotpStep } from "./totp.js";
import { Turns } from "./turns.js";

export interface SignInOptions {
  readonly store: Pick<Store, "users" | "tokens">;
  readonly people: Pick<People, "get">;
  readonly clock: Pick<Clock, "now">;
}

/** The ways to become somebody: a token, or a name with a password and, for some, a code. */
export class SignIn implements Authenticator {
  readonly #options: SignInOptions;
  readonly #throttle: LoginThrottle;
  /** Tries for one user come one after the other: guesses at the same time would all be first ones. */
  readonly #turns = new Turns();

  constructor(options: SignInOptions) {
    this.#options = options;
    this.#throttle = new LoginThrottle(options.clock);
  }

  async byToken(text: string, address: string): Promise<Session> {
    const { store, people, clock } = this.#options;
    const token = store.tokens.find(text);
    if (token === undefined) throw new XoError("CREDENTIALS_INVALID");
    const { id, userId } = token;
    store.tokens.touch(id, address);
    return {
      userId,
      tokenId: id,
      person() {
        const now = store.tokens.get(id);
        return now !== undefined && now.expiresAt > clock.now()
          ? people.get(userId)
          : undefined;
      },
    };
  }

  /** @throws XoError TOO_MANY_REQUESTS, STORE_UNAVAILABLE (a code of a second factor is good once, and that is written down) */
  async byPassword(
    credentials: Credentials,
    address: string,
  ): Promise<Session> {
    const { people } = this.#options;
    const user = await this.#turns.take(credentials.name, () =>
      this.#check(credentials, address),
    );
    return { userId: user.id, person: () => people.get(user.id) };
  }

  /** For who has signed in and proves it again. @throws XoError CREDENTIALS_INVALID, TOO_MANY_REQUESTS */
  async checkPassword(
    credentials: Credentials,
    address: string,
  ): Promise<void> {
    await this.#turns.take(credentials.name, () =>
      this.#verify(credentials, address),
    );
  }

  async #check(credentials: Credentials, address: string): Promise<User> {
    const { name, otp } = credentials;
    const user = await this.#verify(credentials, address);
    if (user.hasTotp && otp === undefined)
      throw new XoError("CREDENTIALS_INVALID", { otpRequired: true });
    if (!(await this.#isSecondFactor(user, otp))) this.#fail(name, address);
    this.#throttle.succeeded(name);
    return user;
  }

  async #verify(
    { name, password }: Credentials,
    address: string,
  ): Promise<User> {
    const retryAfterMs = this.#throttle.waitMs(name, address);
    if (retryAfterMs > 0)
      throw new XoError("CREDENTIALS_INVALID", { retryAfterMs });
    const { users } = this.#options.store;
    const user = await users.verifyPassword(name, password);
    return user ?? this.#fail(name, address);
  }

  #fail(name: string, address: string): never {
    this.#throttle.failed(name, address);
    throw new XoError("CREDENTIALS_INVALID");
  }

  async #isSecondFactor(user: User, otp: string | undefined): Promise<boolean> {
    if (!user.hasTotp) return true;
    const { store, clock } = this.#options;
    const secret = store.users.totpSecret(user.id);
    if (secret === undefined || otp === undefined) return false;
    const step = findTotpStep(secret, otp, clock.now());
    return step !== undefined && store.users.useTotpStep(user.id, step);
  }
}
