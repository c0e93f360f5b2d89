import {
  poolScript,
  TOKEN,
  type FakeCall,
  type FakeReply,
} from "./fake-xapi.js";

export const TASK = "OpaqueRef:7a5c0000-0000-4000-8000-000000000001";
const NEXT = TOKEN.replace("100,", "101,");

export const task = (status: string, more: object = {}) => ({
  uuid: "t",
  status,
  progress: 0,
  result: "",
  error_info: [],
  ...more,
});
export const done = (result: string) =>
  task("success", { progress: 1, result });

export function events(operation: string, record?: object): FakeReply {
  const event = {
    id: "1",
    timestamp: "0.0",
    class: "task",
    operation,
    ref: TASK,
    ...(record === undefined ? {} : { snapshot: record }),
  };
  return {
    value: { events: [event], valid_ref_counts: { task: 1 }, token: NEXT },
  };
}

/** A pool with one task: `polls` are the answers of event.from in turn; `record` is the answer of task.get_record. */
export function taskScript(
  record: () => { readonly status?: string } | undefined,
  polls: FakeReply[],
  more: (call: FakeCall) => FakeReply | Promise<FakeReply> | undefined = () =>
    undefined,
) {
  return poolScript((call) => {
    const special = more(call);
    if (special !== undefined) return special;
    const { method } = call;
    if (method.startsWith("Async.")) return { value: TASK };
    if (method === "event.from") return polls.shift() ?? { silent: true };
    const now = record();
    if (method === "task.get_record")
      return now === undefined
        ? { error: ["HANDLE_INVALID", "task", TASK] }
        : { value: now };
    if (method === "task.get_status")
      return {
        value: now?.status ?? "pending",
      };
    if (method === "task.destroy" || method === "task.cancel")
      return { value: "" };
    return undefined;
  });
}
