import type { Work } from "../tasks/work.js";

/** The same work, that can be given up for other reasons too; so can its parts. */
export function withSignal(work: Work, other: AbortSignal): Work {
  const own: Pick<Work, "signal" | "part" | "fly"> = {
    signal: AbortSignal.any([work.signal, other]),
    part: (name, run) =>
      work.part(name, (part) => run(withSignal(part, other))),
    fly: (name, subject, run) =>
      work.fly(name, subject, (part, log) => run(withSignal(part, other), log)),
  };
  return new Proxy(work, {
    get(target, key) {
      if (Object.hasOwn(own, key)) return Reflect.get(own, key) as unknown;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function"
        ? (value.bind(target) as unknown)
        : value;
    },
  });
}
