/** Random schedules: a natural schema, two or three sessions of two to six statements each at one level or at mixed levels, in random order. */
import { type Chooser } from '../src/base/index.ts';
import type { Dialect } from '../src/sql/model/index.ts';
import { Choices } from './choices.ts';
import { type RandomSchema, randomSchema } from './random-schema.ts';
import { type Feature, type Form, formsOf } from './random-statements.ts';
import type { Level, Schedule, Step } from './schedule.ts';

const levelsOf: Readonly<Record<Dialect, readonly Level[]>> = {
  postgres: ['read committed', 'repeatable read', 'serializable'],
  mysql: ['read uncommitted', 'read committed', 'repeatable read', 'repeatable read', 'serializable'],
};

const featuresOf: Readonly<Record<Dialect, readonly Feature[]>> = {
  postgres: ['advisory locks', 'DDL', 'table locks', 'deferrable constraints'],
  mysql: ['advisory locks', 'DDL'],
};

export function randomSchedule(chooser: Chooser, dialect: Dialect): Schedule {
  const choices = new Choices(chooser);
  const features = new Set(featuresOf[dialect].filter(() => choices.rarely(6)));
  const forms = formsOf[dialect].filter(({ feature }) => feature === undefined || features.has(feature));
  const schema = randomSchema(choices, dialect, features.has('deferrable constraints'));
  const count = 2 + Number(choices.rarely(3));
  const level = choices.pick(levelsOf[dialect]);
  const isMixed = choices.rarely(3);
  const levels = Array.from({ length: count }, () => (isMixed ? choices.pick(levelsOf[dialect]) : level));
  const programs = levels.map((_, session) => randomProgram(choices, forms, schema, session));
  return { dialect, setUp: schema.setUp, levels, steps: merged(choices, programs), queries: schema.queries };
}

/** Statements of one session: most in one transaction, some before or after it. */
function randomProgram(choices: Choices, forms: readonly Form[], schema: RandomSchema, session: number): Step[] {
  const statements = Array.from({ length: 2 + choices.below(5) }, (): Step => {
    const { name, sql, isOrdered = false } = choices.weighted(forms);
    return { session, sql: sql(choices, schema), form: name, isOrdered };
  });
  if (choices.rarely(5)) return statements;
  const begins = choices.rarely(4) ? choices.below(statements.length) : 0;
  const ends = choices.rarely(5) ? 'rollback' : 'commit';
  return statements.toSpliced(begins, 0, { session, sql: 'begin', form: 'begin' }).concat({
    session,
    sql: ends,
    form: ends,
  });
}

function merged(choices: Choices, programs: readonly (readonly Step[])[]): Step[] {
  const left = programs.map((program) => [...program]);
  const steps: Step[] = [];
  for (;;) {
    const open = left.filter((program) => program.length > 0);
    if (open.length === 0) return steps;
    steps.push(choices.pick(open).shift() as Step);
  }
}
