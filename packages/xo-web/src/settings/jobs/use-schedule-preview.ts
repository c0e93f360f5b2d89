import { onScopeDispose, ref, watch, type Ref } from "vue";
import { useServer } from "../../live/use-server.js";
import { toFailure } from "../../forms/failure.js";

interface SchedulePreview {
  /** The next times, in ms since the epoch; undefined: not known. */
  readonly next: Readonly<Ref<readonly number[] | undefined>>;
  /** Why the expression is refused. */
  readonly refusal: Readonly<Ref<string | undefined>>;
}

/** Milliseconds without typing before a request. */
const DELAY_MS = 200;

/** The next times of a cron expression, updated while it is typed. */
export function useSchedulePreview(
  entries: Readonly<{ cron: string; timezone: string }>,
): SchedulePreview {
  const { call } = useServer();
  const next = ref<readonly number[]>();
  const refusal = ref<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let latest = 0;

  async function preview(): Promise<void> {
    const request = ++latest;
    const { cron, timezone } = entries;
    try {
      const times = await call("schedule.preview", {
        cron: cron.trim(),
        ...(timezone === "" ? {} : { timezone }),
      });
      if (request !== latest) return;
      next.value = times as unknown as readonly number[];
      refusal.value = undefined;
    } catch (error) {
      const { code, reason } = toFailure(error);
      if (request !== latest || code === undefined) return;
      next.value = undefined;
      refusal.value = reason;
    }
  }

  watch(
    () => [entries.cron, entries.timezone],
    () => {
      clearTimeout(timer);
      timer = setTimeout(() => void preview(), DELAY_MS);
    },
  );
  void preview();
  onScopeDispose(() => {
    clearTimeout(timer);
  });
  return { next, refusal };
}
