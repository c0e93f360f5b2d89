import t, { type Test } from "tap";
import { XoError } from "@xo-server/model";
import type { User } from "@xo-server/store";
import type { Credentials } from "../src/auth/sign-in/authenticator.js";
import { SecondFactorPolicy } from "../src/auth/second-factor/second-factor-policy.js";
import { StoredSessions } from "../src/auth/sessions/stored-sessions.js";
import { SignInService } from "../src/auth/sign-in/sign-in-service.js";
import { totpCode } from "../src/auth/second-factor/totp.js";
import { FakeClock } from "./fake-clock.js";
import { ADMIN_PASSWORD, startTestServer } from "./test-server.js";

const ada = { id: "1", name: "ada", hasTotp: false } as User;

/** Ada, whose password is `right`, and how often it was verified. */
function setUp(user: User = ada) {
  const clock = new FakeClock();
  const policy = new SecondFactorPolicy("none");
  const verified: string[] = [];
  const listeners: ((table: string) => void)[] = [];
  let whileVerifying: () => void = () => undefined;
  const signIn = new SignInService({
    clock,
    policy,
    store: {
      users: { findByName: () => user, passwordTag: () => "tag" },
      tokens: { ofUser: () => [] },
      onChange(listener: (table: string) => void) {
        listeners.push(listener);
        return () => undefined;
      },
    } as never,
    sessions: new StoredSessions({
      store: {} as never,
      users: { get: () => undefined },
      policy,
      limits: { idleMs: undefined, lifeMs: 3_600_000 },
      clock,
    }),
    passwords: {
      providersOf: () => "password",
      async verify({ password }: Credentials) {
        verified.push(password);
        whileVerifying();
        return password === "right"
          ? { user, provider: "password" }
          : undefined;
      },
    },
    log: { write: async () => undefined },
  });
  const tryWith = (password: string, isRepeated = true, address = "10.0.0.1") =>
    signIn.byPassword({ name: "ada", password, isRepeated }, address);
  return {
    clock,
    verified,
    tryWith,
    change: (table: string) => {
      for (const listener of listeners) listener(table);
    },
    onVerify: (work: () => void) => {
      whileVerifying = work;
    },
  };
}

const refused = { code: "CREDENTIALS_INVALID" };

t.test("a repeated password is verified once a minute", async (t) => {
  const { clock, verified, tryWith } = setUp();
  for (let i = 0; i < 5; i++) {
    await tryWith("right");
    clock.pass(10_000);
  }
  t.equal(verified.length, 1);
  clock.pass(10_000);
  await tryWith("right");
  t.equal(verified.length, 2);
});

t.test("one code of a sign-in is verified at a time", async (t) => {
  const { verified, tryWith } = setUp();
  for (let i = 0; i < 3; i++) await tryWith("right", false);
  await tryWith("right");
  await tryWith("right", false);
  t.equal(verified.length, 5);
});

t.test("a change of users requires a new verification", async (t) => {
  const { change, verified, onVerify, tryWith } = setUp();
  await tryWith("right");
  change("tokens");
  await tryWith("right");
  t.equal(verified.length, 1);
  change("users");
  await tryWith("right");
  t.equal(verified.length, 2);
  change("users");
  onVerify(() => {
    change("users");
  });
  await tryWith("right");
  await tryWith("right");
  t.equal(verified.length, 4, "also what changes meanwhile");
});

t.test("a wrong password is verified, and throttles all", async (t) => {
  const { clock, verified, tryWith } = setUp();
  await tryWith("right");
  await t.rejects(tryWith("wrong"), refused);
  const throttled = {
    code: "SIGN_IN_THROTTLED",
    data: { retryAfterMs: 2_000, seconds: 2 },
  };
  await t.rejects(tryWith("guess"), throttled);
  await t.rejects(tryWith("right"), throttled);
  t.same(verified, ["right", "wrong"], "throttled passwords are not verified");
  clock.pass(2_000);
  await tryWith("right");
  t.same(verified, ["right", "wrong"]);
});

t.test("concurrent guesses are throttled too", async (t) => {
  const { verified, tryWith } = setUp();
  await tryWith("right");
  const guesses = Array.from({ length: 50 }, (_, i) =>
    tryWith(i === 49 ? "right" : `guess ${i}`).catch(
      (error: unknown) => error as XoError,
    ),
  );
  const answers = await Promise.all(guesses);
  t.ok(answers.every((answer) => answer instanceof XoError));
  t.equal(verified.length, 2);
});

t.test("with a second factor each code is required", async (t) => {
  const { verified, tryWith } = setUp({ ...ada, hasTotp: true });
  await t.rejects(tryWith("right"), {
    ...refused,
    data: { otpRequired: true },
  });
  await t.rejects(tryWith("right"), {
    ...refused,
    data: { otpRequired: true },
  });
  t.equal(verified.length, 2);
});

/** Statuses of requests with a name and a password. */
async function startBasic(t: Test, clock = new FakeClock()) {
  const server = await startTestServer(t, "", { clock });
  const status = async (name: string, password: string, query = "") => {
    const authorization = `Basic ${btoa(`${name}:${password}`)}`;
    const init = { headers: { authorization } };
    return (await server.get(`/rest/v0/users/me${query}`, init)).status;
  };
  return { ...server, status };
}

t.test("a code does not affect the codes after it", async (t) => {
  const clock = new FakeClock();
  const { connect, status } = await startBasic(t, clock);
  const root = await (await connect()).signIn();
  const password = ADMIN_PASSWORD;
  const begun = await root.request("user.enrolTotp", { password });
  const { secret } = begun as { secret: string };
  const otp = () => totpCode(secret, clock.now());
  await root.request("user.confirmTotp", { otp: otp() });
  // The code of the enrolment is used up.
  clock.pass(30_000);
  const query = `?otp=${otp()}`;
  t.equal(await status("admin", password), 401);
  t.equal(await status("admin", password, query), 200);
  t.equal(await status("admin", password), 401);
  t.equal(await status("admin", password, query), 401);
});

t.test(
  "an old password and one of an unknown user are refused immediately",
  async (t) => {
    const { connect, status } = await startBasic(t);
    const root = await (await connect()).signIn();
    const user = { email: "ben", password: "old" };
    const id = await root.request("user.create", user);
    t.equal(await status("ben", "old"), 200);
    t.equal(await status("ben", "old"), 200);
    await root.request("user.set", { id, password: "new" });
    t.equal(await status("ben", "old"), 401);
    const eve = await root.request("user.create", { ...user, email: "eve" });
    t.equal(await status("eve", "old"), 200);
    await root.request("user.delete", { id: eve });
    t.equal(await status("eve", "old"), 401);
    t.equal(await status("admin", ADMIN_PASSWORD), 200);
  },
);
