/** The first decisions of a run given, as positions: how the tree of schedules is cut into parts that share nothing. */
import type { Decisions } from '../../mockdb/index.ts';

/** `prefix`, and where it ends, `rest`, which knows nothing of it. A position that does not exist is the first. */
export function prefixed(prefix: readonly number[], rest: Decisions): Decisions {
  if (prefix.length === 0) return rest;
  const taken: number[] = [];
  const gone: number[] = [];
  const next = (options: number): number => {
    const wanted = prefix[taken.length] ?? 0;
    const position = wanted < options ? wanted : 0;
    taken.push(position);
    return position;
  };
  return {
    get path() {
      return [...taken, ...rest.path];
    },
    get schedule() {
      return [...gone, ...rest.schedule];
    },
    get readChoices() {
      return rest.readChoices;
    },
    session(waiting) {
      if (taken.length === prefix.length) return rest.session(waiting);
      const session = waiting[waiting.length === 1 ? 0 : next(waiting.length)] as number;
      gone.push(session);
      return session;
    },
    read(admissible, point) {
      if (taken.length === prefix.length) return rest.read(admissible, point);
      return admissible.length === 1 ? 0 : next(admissible.length);
    },
    failure: () => false,
  };
}

/** How many ways there were at each decision of a run that takes `position` where there are several. */
export function counting(position: (decision: number, options: number) => number): Decisions & {
  readonly options: readonly number[];
} {
  const options: number[] = [];
  const path: number[] = [];
  const schedule: number[] = [];
  const choose = (count: number): number => {
    if (count === 1) return 0;
    const chosen = position(path.length, count);
    path.push(chosen);
    options.push(count);
    return chosen;
  };
  return {
    options,
    path,
    schedule,
    readChoices: [],
    session(waiting) {
      const session = waiting[choose(waiting.length)] as number;
      schedule.push(session);
      return session;
    },
    read: (admissible) => choose(admissible.length),
    failure: () => false,
  };
}
