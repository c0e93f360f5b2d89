import { isObject, type Json } from "@xo-server/kit";
import type { Call } from "../../api/server-connection.js";
import { fill, type Messages } from "../../locale/messages.js";
import type { Toasts } from "../../toasts/use-toasts.js";
import type { Localization } from "./action.js";
import { errorMessage } from "./error-message.js";

interface Upload {
  readonly call: Call;
  readonly toasts: Pick<Toasts, "show">;
  readonly localization: () => Localization;
  /** Operations that answer with `$sendTo`. */
  readonly method: string;
  readonly params: Json;
  readonly file: File;
  /** What the toast reports. */
  readonly kind: keyof Messages["actions"]["importing"]["uploads"];
}

/** Minimum interval between two updates of the toast, in ms. */
const OFTEN_MS = 300;

/** Uploads a file and shows its progress in a toast; continues when the dialog is closed. */
export async function sendFile(upload: Upload): Promise<void> {
  const { call, toasts, localization, method, params, file, kind } = upload;
  const { text, formats } = localization();
  const { importing } = text.actions;
  const says = importing.uploads[kind];
  const title = fill(says.sending, { name: file.name });
  const abort = new AbortController();
  const leaving = (event: BeforeUnloadEvent) => {
    event.preventDefault();
  };
  addEventListener("beforeunload", leaving);
  const id = toasts.show({ tone: "busy", text: title });
  let shownAt = 0;
  const onProgress = (sent: number) => {
    if (performance.now() - shownAt < OFTEN_MS) return;
    shownAt = performance.now();
    const detail = fill(importing.sent, {
      sent: formats.bytes(sent),
      total: formats.bytes(file.size),
      share: formats.share(file.size > 0 ? sent / file.size : 0),
    });
    const action = {
      label: text.ui.cancel,
      run: () => {
        abort.abort();
      },
    };
    toasts.show({ id, detail, action, tone: "busy", text: title });
  };
  try {
    const answer = await call(method, params);
    const path = isObject(answer) ? answer["$sendTo"] : undefined;
    if (typeof path !== "string") throw new Error(importing.noPath);
    await post({ path, file, onProgress, signal: abort.signal });
    const done = fill(says.done, { name: file.name });
    toasts.show({ id, tone: "good", text: done });
  } catch (error) {
    const { name } = file;
    if (abort.signal.aborted)
      toasts.show({ id, tone: "plain", text: fill(says.cancelled, { name }) });
    else {
      const isRefused = error instanceof UploadError;
      const detail = isRefused
        ? (error.reason ?? importing.interrupted)
        : errorMessage(error, text);
      toasts.show({
        id,
        detail,
        tone: "bad",
        text: fill(says.failed, { name }),
      });
    }
  } finally {
    removeEventListener("beforeunload", leaving);
  }
}

class UploadError extends Error {
  override readonly name = "UploadError";
  /** Of the server; undefined: the connection ended before its answer. */
  readonly reason: string | undefined;

  constructor(reason?: string) {
    super(reason ?? "the upload was interrupted");
    this.reason = reason;
  }
}

interface Post {
  readonly path: string;
  readonly file: File;
  readonly onProgress: (sent: number) => void;
  readonly signal: AbortSignal;
}

/** The error of a response in JSON, else the start of its text. */
function reasonOf(response: string): string {
  try {
    const { error, data } = JSON.parse(response) as {
      readonly error?: unknown;
      readonly data?: { readonly reason?: unknown };
    };
    if (typeof data?.reason === "string") return data.reason;
    if (typeof error === "string") return error;
  } catch {
    // The response of a proxy, for example.
  }
  return response.slice(0, 300);
}

/** XMLHttpRequest: fetch reports no upload progress. */
function post({ path, file, onProgress, signal }: Post): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const fail = (reason?: string) => {
      reject(new UploadError(reason));
    };
    request.upload.onprogress = ({ loaded }) => {
      onProgress(loaded);
    };
    request.onload = () => {
      if (request.status < 400) resolve();
      else fail(reasonOf(request.responseText) || request.statusText);
    };
    request.onerror = request.onabort = () => {
      fail();
    };
    signal.addEventListener("abort", () => {
      request.abort();
    });
    request.open("POST", path);
    request.send(file);
  });
}
