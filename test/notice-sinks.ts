import { createServer as createHttpServer } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import type { Test } from "tap";
import { receiveMail } from "./receive-mail.js";

interface Notice {
  readonly id: string;
  readonly event: string;
  readonly alarms: readonly { readonly objectId: string }[];
}

/** A webhook and a mail server that store the notices of alarms. */
export interface NoticeSinks {
  readonly hookUrl: string;
  readonly mailPort: number;
  /** `raised ID`, `ended ID` of the webhook; repeated attempts count once. */
  alarms(): string[];
  /** Number of notices at the webhook and by mail; repeated attempts count once. */
  counts(): { readonly hooks: number; readonly mails: number };
  /** Resolves when the webhook has this number of alarms, and there are as many mails as notices. */
  until(alarms: number): Promise<void>;
}

export async function startNoticeSinks(t: Test): Promise<NoticeSinks> {
  const notices = new Map<string, Notice>();
  const letters = new Set<string>();
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const one of waiting) one();
    waiting.clear();
  };
  const hook = createHttpServer((request, answer) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      const notice = JSON.parse(text) as Notice;
      notices.set(notice.id, notice);
      answer.writeHead(204).end();
      wake();
    });
  });
  const mail = createServer((socket) => {
    receiveMail(socket, (letter) => {
      letters.add(/^message-id: *(\S+)/im.exec(letter)?.[1] ?? letter);
      wake();
    });
  });
  const [hookPort, mailPort] = await Promise.all([listen(hook), listen(mail)]);
  t.teardown(() => {
    hook.close();
    mail.close();
  });
  const alarms = () =>
    [...notices.values()].flatMap(({ event, alarms }) =>
      alarms.map(({ objectId }) => `${event} ${objectId}`),
    );
  return {
    hookUrl: `http://127.0.0.1:${hookPort}/`,
    mailPort,
    alarms,
    counts: () => ({ hooks: notices.size, mails: letters.size }),
    async until(count) {
      while (alarms().length < count || letters.size < notices.size)
        await new Promise<void>((resolve) => waiting.add(resolve));
    },
  };
}

function listen(server: {
  listen(port: number, host: string, done: () => void): unknown;
  address(): unknown;
}): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      resolve((server.address() as AddressInfo).port);
    });
  });
}
