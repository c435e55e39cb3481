/** The smallest schedule that still differs in the same way: fewer statements, fewer sessions, a smaller set-up. */
import type { Schedule } from './schedule.ts';

/** @param differs is asked of each candidate; candidates have no more statements than the schedule */
export async function reduce(
  schedule: Schedule,
  differs: (candidate: Schedule) => Promise<boolean>,
): Promise<Schedule> {
  let smallest = schedule;
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false;
    for (const candidate of smallerThan(smallest)) {
      if (!(await differs(candidate))) continue;
      smallest = candidate;
      isSmaller = true;
      break;
    }
  }
  return smallest;
}

function* smallerThan(schedule: Schedule): Generator<Schedule> {
  const { levels, setUp, steps } = schedule;
  if (levels.length > 2) {
    for (const session of levels.keys()) {
      yield {
        ...schedule,
        levels: levels.toSpliced(session, 1),
        steps: steps
          .filter((step) => step.session !== session)
          .map((step) => ({ ...step, session: step.session > session ? step.session - 1 : step.session })),
      };
    }
  }
  for (let i = steps.length - 1; i >= 0; i -= 1) yield { ...schedule, steps: steps.toSpliced(i, 1) };
  for (const [i, sql] of setUp.entries()) {
    if (!sql.startsWith('create table')) yield { ...schedule, setUp: setUp.toSpliced(i, 1) };
    for (const shorter of shorterDefinitions(sql)) yield { ...schedule, setUp: setUp.with(i, shorter) };
  }
  const weakest = 'read committed';
  for (const [i, level] of levels.entries())
    if (level !== weakest) yield { ...schedule, levels: levels.with(i, weakest) };
}

const clauses = [
  / on delete (?:cascade|set null|restrict|no action)/,
  / on update (?:cascade|set null|restrict|no action)/,
  / deferrable(?: initially deferred)?/,
  / initially deferred/,
  / references t \(id\)/,
  /, foreign key \(tid\) references t \(id\)/,
  /, unique \(\w+, \w+\)/,
  / unique\b/,
  /, key \(k\)/,
];

function* shorterDefinitions(sql: string): Generator<string> {
  for (const clause of clauses) if (clause.test(sql)) yield sql.replace(clause, '');
  // One row fewer.
  const rows = /^(insert into \w+ values )(\(.*\))$/.exec(sql);
  const list = rows?.[2]?.split(/(?<=\)), /) ?? [];
  if (list.length > 1) for (const i of list.keys()) yield `${rows?.[1]}${list.toSpliced(i, 1).join(', ')}`;
}
