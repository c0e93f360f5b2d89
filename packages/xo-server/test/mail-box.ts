import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import type { Test } from "tap";

export interface MailBox {
  readonly port: number;
  /** As they came, headers included. */
  readonly letters: readonly string[];
  /** Recipients of each. */
  readonly recipients: readonly (readonly string[])[];
  /** What it answers to the next messages, instead of taking them. */
  refuse: string | undefined;
}

/** A mail server on loopback that keeps what it gets; ends with the test. */
export async function startMailBox(
  t: Test,
  login?: { readonly username: string; readonly password: string },
): Promise<MailBox> {
  const letters: string[] = [];
  const recipients: string[][] = [];
  const box: { refuse: string | undefined } = { refuse: undefined };
  const server = new SMTPServer({
    authOptional: login === undefined,
    allowInsecureAuth: true,
    disabledCommands: ["STARTTLS"],
    onAuth(auth, _session, callback) {
      const isRight =
        auth.username === login?.username && auth.password === login?.password;
      if (isRight) callback(null, { user: auth.username ?? "" });
      else callback(new Error("no such user"));
    },
    onData(stream, session, callback) {
      let text = "";
      stream.setEncoding("utf8");
      stream.on("data", (chunk: string) => (text += chunk));
      stream.on("end", () => {
        if (box.refuse !== undefined) {
          callback(new Error(box.refuse));
          return;
        }
        letters.push(text);
        recipients.push(session.envelope.rcptTo.map(({ address }) => address));
        callback();
      });
    },
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  t.teardown(
    () => new Promise<void>((resolve) => server.close(() => resolve())),
  );
  const { port } = server.server.address() as AddressInfo;
  return Object.assign(box, { port, letters, recipients });
}
