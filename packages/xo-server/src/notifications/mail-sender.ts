import { XoError } from "@xo-server/model";
import type { Config } from "../config/config.js";
import { readConfigSecret } from "../auth/providers/read-secret.js";

/** One message with its recipients. */
export interface MailMessage {
  /**
   * Message id: equal for all attempts, so that mailboxes can detect
   * duplicates.
   */
  readonly id: string;
  readonly addresses: readonly string[];
  /** One line. */
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  readonly attachments?: readonly MailAttachment[];
}

interface MailAttachment {
  readonly filename: string;
  readonly content: string;
  readonly contentType: string;
}

export type SendMail = (message: MailMessage) => Promise<void>;

type MailConfig = Config["mail"];

/**
 * Sends mail by SMTP, with one connection per message because there are few.
 */
export function createMailSender(config: MailConfig): SendMail {
  return async ({ id, addresses, attachments = [], ...content }) => {
    if (config.host === "")
      throw new XoError("UNSUPPORTED", {
        reason: "no mail server is configured (mail.host)",
      });
    // Loaded on demand: 60 ms CPU.
    const { createTransport } = await import("nodemailer");
    const transport = createTransport(await toOptions(config));
    try {
      await transport.sendMail({
        from: config.from,
        to: [...addresses],
        messageId: `<${id}@xo-server>`,
        ...content,
        attachments: [...attachments],
        headers: { "Auto-Submitted": "auto-generated" },
      });
    } finally {
      transport.close();
    }
  };
}

async function toOptions(config: MailConfig) {
  const { host, port, security, username, timeoutMs } = config;
  const pass = await readConfigSecret(config, "password");
  return {
    host,
    port,
    secure: security === "tls",
    requireTLS: security === "starttls",
    ignoreTLS: security === "none",
    tls: { rejectUnauthorized: config.verify },
    ...(username === "" ? {} : { auth: { user: username, pass } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
