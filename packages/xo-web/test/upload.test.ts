import t from "tap";
import { sendFile } from "../src/actions/plan/upload.js";
import { en } from "../src/locale/en/all.js";
import { Formats } from "../src/locale/formats.js";
import type { Toast } from "../src/toasts/use-toasts.js";
import { settled } from "./fake-server.js";

/** The parts of XMLHttpRequest that uploads use. Nothing happens by itself. */
class FakeRequest {
  static last: FakeRequest;
  readonly upload: { onprogress?: (event: { loaded: number }) => void } = {};
  onload = () => undefined;
  onerror = () => undefined;
  onabort = () => undefined;
  status = 0;
  statusText = "";
  responseText = "";
  sent = "";

  constructor() {
    FakeRequest.last = this;
  }

  open(method: string, path: string): void {
    this.sent = `${method} ${path}`;
  }

  send(file: File): void {
    this.sent += ` ${file.name}`;
  }

  abort(): void {
    this.onabort();
  }

  respond(status: number, body: object): void {
    this.status = status;
    this.responseText = JSON.stringify(body);
    this.onload();
  }
}

/** Begins an upload. @returns the toast as it is shown now, and the end of the upload */
async function started() {
  Object.assign(globalThis, {
    XMLHttpRequest: FakeRequest,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
  });
  let toast: Partial<Toast> = {};
  const ended = sendFile({
    call: async () => ({ $sendTo: "/api/upload" }),
    toasts: {
      show: (shown) => {
        toast = shown;
        return "toast";
      },
    },
    localization: () => ({ text: en, formats: new Formats("en", en) }),
    method: "pool.importVm",
    params: {},
    kind: "import",
    file: { name: "vm.xva", size: 100 } as File,
  });
  await settled();
  return { ended, request: FakeRequest.last, toast: () => toast };
}

t.test("an upload that the user cancels is not a failure", async (t) => {
  const { ended, request, toast } = await started();
  t.equal(request.sent, "POST /api/upload vm.xva");
  request.upload.onprogress!({ loaded: 40 });
  toast().action!.run();
  await ended;
  t.match(toast(), { tone: "plain", text: "Import cancelled: vm.xva" });
  t.equal(toast().detail, undefined);
});

t.test("an upload that is interrupted says so", async (t) => {
  const { ended, request, toast } = await started();
  request.onerror();
  await ended;
  t.match(toast(), {
    tone: "bad",
    text: "Import failed: vm.xva",
    detail: "The connection to the server was lost during the upload.",
  });
});

t.test("the reason of a refused file has no prefix", async (t) => {
  const { ended, request, toast } = await started();
  request.respond(422, {
    error: "invalid parameters: not a valid XVA file",
    data: { reason: "not a valid XVA file" },
  });
  await ended;
  t.equal(toast().tone, "bad");
  t.equal(toast().detail, "not a valid XVA file");
});
