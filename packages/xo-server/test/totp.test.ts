import t from "tap";
import {
  createTotpSecret,
  findTotpStep,
  totpCode,
} from "../src/auth/second-factor/totp.js";
import { FakeClock } from "./fake-clock.js";
import { ADMIN_PASSWORD, startTestServer } from "./test-server.js";

/** "12345678901234567890" in base32: RFC 6238 appendix B, the last six of its eight digits. */
const RFC_SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
const STEP_MS = 30_000;

t.test("codes are those of RFC 6238", async (t) => {
  for (const [seconds, code] of [
    [59, "287082"],
    [1111111109, "081804"],
    [1111111111, "050471"],
    [1234567890, "005924"],
    [2000000000, "279037"],
    [20000000000, "353130"],
  ] as const) {
    t.equal(totpCode(RFC_SECRET, seconds * 1000), code);
    const step = Math.floor(seconds / 30);
    t.equal(findTotpStep(RFC_SECRET, code, seconds * 1000), step);
  }
});

t.test("a TOTP code of the previous or next step is accepted", async (t) => {
  const secret = createTotpSecret();
  t.match(secret, /^[A-Z2-7]{32}$/);
  const now = 1_000_000 * STEP_MS;
  const code = totpCode(secret, now);
  t.equal(findTotpStep(secret, code, now - STEP_MS), 1_000_000);
  t.equal(findTotpStep(secret, code, now + STEP_MS), 1_000_000);
  t.equal(findTotpStep(secret, code, now + 2 * STEP_MS), undefined);
  for (const wrong of ["", "12345", "1234567", "äbcdef"])
    t.equal(findTotpStep(secret, wrong, now), undefined);
});

t.test(
  "a second factor is enrolled, required, and accepted once",
  async (t) => {
    const clock = new FakeClock();
    const { connect } = await startTestServer(t, "", { clock });
    const admin = await (await connect()).signIn();
    const password = ADMIN_PASSWORD;
    const code3 = { error: { code: 3 } };
    const { secret, uri } = (await admin.request("user.enrolTotp", {
      password,
    })) as { secret: string; uri: string };
    t.match(uri, `otpauth://totp/xo-server:admin?secret=${secret}`);
    t.match(await admin.call("user.confirmTotp", { otp: "000000" }), code3);
    const otp = () => totpCode(secret, clock.now());
    t.equal(await admin.request("user.confirmTotp", { otp: otp() }), true);

    const client = await connect();
    const signIn = (params: object) =>
      client.call("session.signIn", { email: "admin", password, ...params });
    t.match(await signIn({}), {
      error: { code: 3, data: { otpRequired: true } },
    });
    t.match(await signIn({ otp: otp() }), code3, "the code of the enrollment");
    clock.pass(STEP_MS);
    t.match(await signIn({ otp: otp() }), { result: { email: "admin" } });
    t.match(await signIn({ otp: otp() }), code3, "the same code again");
    clock.pass(STEP_MS);
    t.match(await signIn({ otp: otp() }), { result: {} });
    const token = await admin.request("token.create", {});
    t.match(await client.call("session.signIn", { token }), { result: {} });

    t.match(await admin.call("user.removeTotp", { password: "no" }), code3);
    clock.pass(STEP_MS);
    t.equal(await admin.request("user.removeTotp", { password }), true);
    t.match(await signIn({}), { result: {} });
  },
);
