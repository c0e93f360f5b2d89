import type { Json } from "@xo-server/kit";

/** Search terms; empty: not restricted. */
export interface TaskSearch {
  readonly text: string;
  /** Id of a user. */
  readonly user: string;
  /** Id of a pool. */
  readonly pool: string;
  /** Local times as `datetime-local` has them. */
  readonly since: string;
  readonly until: string;
}

export const noSearch: TaskSearch = {
  text: "",
  user: "",
  pool: "",
  since: "",
  until: "",
};

/** Whether any field of the search is filled in. */
export function isSearch(search: TaskSearch): boolean {
  return Object.values(search).some((value) => value !== "");
}

/** Parameters of `task.list`. */
export function toListParameters(
  { text, user, pool, since, until }: TaskSearch,
  limit: number,
): Readonly<Record<string, Json>> {
  const [from, to] = [toMs(since), toMs(until)];
  return {
    limit,
    ...(text === "" ? {} : { text }),
    ...(user === "" ? {} : { user }),
    ...(pool === "" ? {} : { pool }),
    ...(from === undefined ? {} : { since: from }),
    ...(to === undefined ? {} : { until: to }),
  };
}

/** Filter of XAPI tasks, which have no user; undefined: none can match. */
export function toPoolFilter({
  text,
  user,
  pool,
  since,
  until,
}: TaskSearch): string | undefined {
  if (user !== "") return undefined;
  const [from, to] = [toMs(since), toMs(until)];
  return [
    ...(text === "" ? [] : [`name_label:${JSON.stringify(text)}`]),
    ...(pool === "" ? [] : [`$pool:${JSON.stringify(pool)}`]),
    ...(from === undefined ? [] : [`created:>=${from / 1000}`]),
    ...(to === undefined ? [] : [`created:<${to / 1000}`]),
  ].join(" ");
}

function toMs(local: string): number | undefined {
  const ms = local === "" ? NaN : new Date(local).getTime();
  return Number.isFinite(ms) ? ms : undefined;
}
