import type { Socket } from "node:net";

/** The part of SMTP that a client needs to send one mail to one recipient. */
export function receiveMail(
  socket: Socket,
  onLetter: (letter: string) => void,
): void {
  let text = "";
  let isLetter = false;
  const answer = (line: string) => socket.write(`${line}\r\n`);
  socket.on("error", () => undefined);
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString();
    for (;;) {
      const end = isLetter ? "\r\n.\r\n" : "\r\n";
      const at = text.indexOf(end);
      if (at < 0) return;
      const line = text.slice(0, at);
      text = text.slice(at + end.length);
      if (isLetter) {
        isLetter = false;
        onLetter(line);
        answer("250 accepted");
      } else if (/^data$/i.test(line)) {
        isLetter = true;
        answer("354 go ahead");
      } else if (/^quit/i.test(line)) {
        answer("221 bye");
        socket.end();
      } else answer("250 ok");
    }
  });
  answer("220 sink ESMTP");
}
