import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findSplitSchedule, type ConcreteAccess, type ConcreteTransaction, type Statement } from './concrete.ts';
import { costOf, isRobust, weakestLevels } from './allocate.ts';
import { findTemplateSplit, type InstanceRows, type TemplateSplit } from './find-split.ts';
import { isRobustByDefinition } from './schedules.test-support.ts';
import type { Level } from './access.ts';
import type { Allocation, NamedTemplateRow, Template, TemplateAccess, TemplateParent } from './templates.ts';

const allocations: readonly (readonly Level[])[] = [['RC'], ['SI'], ['RC', 'SI'], ['RC', 'SI', 'SSI'], ['SI', 'SSI']];
const isHeavy = process.env['MOIRAI_HEAVY'] === '1';
const seed = Number(process.env['MOIRAI_SEED'] ?? 2_718);
/** Of each search: some of those that end at the default find something further on. */
const limits = { stepsMax: 20_000_000 };

describe('all instances over a few rows, on random sets of templates', () => {
  test.each(allocations.map((levels) => [levels.join(' '), levels] as const))(
    '%s',
    { timeout: 3_600_000 },
    (_, levels) => {
      let robust = 0;
      fc.assert(
        fc.property(randomTemplates(levels), ({ templates, allocation }) => {
          const split = findTemplateSplit(templates, allocation, limits);
          if (split === 'step-limit') throw new Error('the search ended');
          if (split === undefined) {
            fc.pre(templates.reduce((sum, template) => sum + instancesOfTemplate(template), 0) <= instancesMax);
            const instances = allInstances(templates, allocation);
            robust += 1;
            expect(findSplitSchedule(instances)).toBeUndefined();
          } else {
            // A counterexample proves itself, whatever rows it needs.
            expect(isRobustByDefinition(instancesOf(split, templates, allocation))).toBe(false);
          }
        }),
        { seed, numRuns: isHeavy ? 2_000 : 40 },
      );
      expect(robust).toBeGreaterThan(10);
    },
  );
});

describe('rows that refer to rows: all instances over a few rows, on random sets of templates', () => {
  test.each(allocations.map((levels) => [levels.join(' '), levels] as const))(
    '%s',
    { timeout: 3_600_000 },
    (_, levels) => {
      const seen = { robust: 0, because: 0 };
      const property = fc.property(randomTemplates(levels, parents), ({ templates, allocation }) => {
        const split = findTemplateSplit(templates, allocation, limits);
        if (split === 'step-limit') throw new Error('the search ended');
        if (split !== undefined) {
          expect(findSplitSchedule(instancesOf(split, templates, allocation))).toBeDefined();
          return;
        }
        fc.pre(templates.reduce((sum, template) => sum + instancesOfTemplate(template), 0) <= instancesMax);
        seen.robust += 1;
        if (findTemplateSplit(templates.map(forgetParents), allocation, limits) !== undefined) seen.because += 1;
        expect(findSplitSchedule(allInstances(templates, allocation))).toBeUndefined();
      });
      fc.assert(property, { seed, numRuns: isHeavy ? 2_000 : 60 });
      expect(seen.robust).toBeGreaterThan(10);
      // Of a few, where snapshots refuse much anyway, this may decide none.
      if (isHeavy || levels.join() === 'RC') expect(seen.because).toBeGreaterThan(0);
    },
  );
});

/** Rows of both tables refer to rows of the first one. */
const parents: fc.Arbitrary<readonly TemplateParent[]> = fc.array(
  fc.record({
    reference: fc.constant(0),
    table: fc.constant(0),
    row: fc.oneof(
      { weight: 6, arbitrary: fc.record({ kind: fc.constant('variable' as const), variable: fc.nat(1) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('constant' as const), constant: fc.nat(1) }) },
    ),
  }),
  { maxLength: 1 },
);

function forgetParents({ name, statements }: Template): Template {
  return { name, statements: statements.map((accesses) => accesses.map((access) => ({ ...access, parents: [] }))) };
}

/** Two that make one row never both commit: of all instances, only sets without such a pair count. */
describe('rows that are made once: every set of instances that makes none twice, on random sets of templates', () => {
  test.each(allocations.map((levels) => [levels.join(' '), levels] as const))(
    '%s',
    { timeout: 3_600_000 },
    (_, levels) => {
      const seen = { robust: 0, because: 0 };
      const property = fc.property(randomTemplates(levels), fc.infiniteStream(fc.nat()), (drawn, numbers) => {
        const templates = drawn.templates.map(creating);
        const split = findTemplateSplit(templates, drawn.allocation, limits);
        if (split === 'step-limit') throw new Error('the search ended');
        if (split !== undefined) {
          const instances = instancesOf(split, templates, drawn.allocation);
          expect(isRobustByDefinition(instances)).toBe(false);
          if (instances.length === 2) expect(withoutTwins(instances)).toEqual(instances);
          return;
        }
        fc.pre(templates.reduce((sum, template) => sum + instancesOfTemplate(template), 0) <= instancesMax);
        seen.robust += 1;
        if (findTemplateSplit(drawn.templates, drawn.allocation, limits) !== undefined) seen.because += 1;
        const all = allInstances(templates, drawn.allocation);
        for (let set = 0; set < 6; set += 1) {
          const order = new Map(all.map((one) => [one, numbers.next().value as number]));
          const shuffled = all.toSorted((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0));
          expect(findSplitSchedule(withoutTwins(shuffled))).toBeUndefined();
        }
      });
      fc.assert(property, { seed, numRuns: isHeavy ? 2_000 : 60 });
      expect(seen.robust).toBeGreaterThan(10);
      // Where two writers of one row exclude each other anyway, this adds nothing.
      if (levels.join() === 'RC') expect(seen.because).toBeGreaterThan(0);
    },
  );
});

/** What it writes of a row that it names makes the row. */
function creating({ name, statements }: Template): Template {
  return {
    name,
    statements: statements.map((accesses) =>
      accesses.map((access) => ({ ...access, creates: access.writes !== 0 && access.row.kind === 'variable' })),
    ),
  };
}

/** As many of them, in their order, as make no row twice. */
function withoutTwins(instances: readonly ConcreteTransaction[]): readonly ConcreteTransaction[] {
  const made = new Set<number>();
  return instances.filter(({ statements }) => {
    const own = new Set(statements.flat().flatMap(({ creates, row }) => (creates === true ? [row] : [])));
    if ([...own].some((row) => made.has(row))) return false;
    for (const row of own) made.add(row);
    return true;
  });
}

describe('the weakest levels, beside all allocations', { timeout: 3_600_000 }, () => {
  const levels = ['RC', 'SI', 'SSI'] as const;
  const isWeaker = (level: Level, than: Level | undefined): boolean =>
    than !== undefined && levels.indexOf(level) < levels.indexOf(than);
  const tooWeak: readonly (readonly [string, boolean, (one: Allocation, weakest: Allocation) => boolean])[] = [
    ['no robust one has a lower cost', true, (one, weakest) => costOf(one) < costOf(weakest)],
    [
      'without locks, no robust one is weaker anywhere',
      false,
      (one, weakest) => one.some((level, at) => isWeaker(level, weakest[at])),
    ],
  ];
  test.each(tooWeak)('%s', (_name, locks, isTooWeak) => {
    let mixed = 0;
    fc.assert(
      fc.property(randomTemplates(levels), ({ templates: drawn }) => {
        const templates = locks ? drawn : drawn.map(withoutLocks);
        const weakest = weakestLevels(templates);
        expect(isRobust(templates, weakest)).toBe(true);
        if (new Set(weakest).size > 1) mixed += 1;
        for (const allocation of choices(templates.map(() => levels)))
          if (isTooWeak(allocation, weakest))
            expect(isRobust(templates, allocation), `${allocation.join()} beside ${weakest.join()}`).toBe(false);
      }),
      { seed, numRuns: isHeavy ? 5_000 : 25 },
    );
    expect(mixed).toBeGreaterThan(0);
  });
});

function withoutLocks({ name, statements }: Template): Template {
  return { name, statements: statements.map((accesses) => accesses.map((access) => ({ ...access, locks: false }))) };
}

const tables = 2;
const rowsOfTable = 3;
const instancesMax = 300;

function randomTemplates(
  levels: readonly Level[],
  ofParents: fc.Arbitrary<readonly TemplateParent[]> = fc.constant([]),
): fc.Arbitrary<{ templates: Template[]; allocation: Allocation }> {
  const columns = fc.integer({ min: 0, max: 3 });
  const row: fc.Arbitrary<TemplateAccess['row']> = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ kind: fc.constant('variable' as const), variable: fc.integer({ min: 0, max: 1 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('constant' as const), constant: fc.integer({ min: 0, max: 1 }) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('condition' as const) }) },
  );
  const access: fc.Arbitrary<TemplateAccess> = fc
    .record({
      table: fc.integer({ min: 0, max: tables - 1 }),
      row,
      reads: columns,
      writes: fc.oneof(fc.constant(0), columns),
      locks: fc.boolean(),
      parents: ofParents,
    })
    .filter(({ reads, writes }) => reads !== 0 || writes !== 0)
    // A variable names rows of one table.
    .map((a) => (a.row.kind === 'variable' ? { ...a, row: { ...a.row, variable: 2 * a.table + a.row.variable } } : a));
  const statement = fc.array(access, { minLength: 1, maxLength: 2 });
  const template = fc.record({ statements: fc.array(statement, { minLength: 1, maxLength: 3 }) });
  return fc
    .array(fc.record({ template, level: fc.constantFrom(...levels) }), { minLength: 1, maxLength: 3 })
    .map((drawn) => ({
      templates: drawn.map((one, index) => ({ ...one.template, name: `t${index}` })),
      allocation: drawn.map(({ level }) => level),
    }));
}

/** Two of each instance, with every choice of rows for variables and for what conditions write. */
function allInstances(templates: readonly Template[], allocation: Allocation): readonly ConcreteTransaction[] {
  return templates.flatMap((template, index) => {
    const variables = variablesOf(template);
    const level = allocation[index] as Level;
    return choices(variables.map(() => range(rowsOfTable))).flatMap((rows) => {
      const rowOf = (variable: number): number => rows[variables.indexOf(variable)] as number;
      const written = conditionsThatWrite(template);
      return choices(written.map(() => subsets(rowsOfTable))).flatMap((found) => {
        const statements = template.statements.map((accesses) =>
          accesses.flatMap((access) =>
            concrete(access, rowsOfTable, rowOf, (_, constant) => constant, found[written.indexOf(access)] ?? []),
          ),
        );
        return [
          { level, statements },
          { level, statements },
        ];
      });
    });
  });
}

function instancesOfTemplate(template: Template): number {
  return 2 * rowsOfTable ** variablesOf(template).length * 2 ** (rowsOfTable * conditionsThatWrite(template).length);
}

function variablesOf(template: Template): readonly number[] {
  const rows = template.statements.flat().flatMap(({ row, parents: its = [] }) => [row, ...its.map((one) => one.row)]);
  const named = rows.flatMap((row) => (row.kind === 'variable' ? [row.variable] : []));
  return [...new Set(named)];
}

function conditionsThatWrite(template: Template): readonly TemplateAccess[] {
  return template.statements
    .flat()
    .filter(({ row, writes, locks }) => row.kind === 'condition' && (writes !== 0 || locks));
}

function concrete(
  { table, row, parents: its = [], ...given }: TemplateAccess,
  rows: number,
  rowOf: (variable: number) => number,
  constantOf: (table: number, constant: number) => number,
  found: readonly number[],
): Statement {
  const at = (index: number, of = table): number => index * tables + of;
  const named = (one: NamedTemplateRow, of: number): number =>
    at(one.kind === 'variable' ? rowOf(one.variable) : constantOf(of, one.constant), of);
  const access = {
    ...given,
    parents: its.map((one) => ({ reference: one.reference, row: named(one.row, one.table) })),
  };
  if (row.kind === 'variable' || row.kind === 'constant') return [{ ...access, row: named(row, table) }];
  return range(rows).map((index): ConcreteAccess => {
    return found.includes(index)
      ? { ...access, row: at(index) }
      : { ...access, row: at(index), writes: 0, locks: false };
  });
}

/** The transactions of a counterexample; rows that it does not name are new ones. */
function instancesOf(
  split: TemplateSplit,
  templates: readonly Template[],
  allocation: Allocation,
): readonly ConcreteTransaction[] {
  const instances = [split.first, ...split.between];
  const numbers = [
    ...instances.flatMap(({ variables, found }) => [...variables.values(), ...found.map(({ row }) => row)]),
    ...[...split.constants.values()].flatMap((tags) => [...tags.values()]),
  ];
  let count = Math.max(0, ...numbers) + 1;
  const named = instances.map((instance) => {
    const all = new Map(instance.variables);
    for (const variable of variablesOf(templates[instance.template] as Template)) {
      if (!all.has(variable)) all.set(variable, count++);
    }
    return { ...instance, variables: all };
  });
  return named.map(({ template, variables, found }: InstanceRows) => ({
    level: allocation[template] as Level,
    statements: (templates[template] as Template).statements.map((accesses, statement) =>
      accesses.flatMap((access) => {
        const here = found.filter((f) => f.statement === statement && f.table === access.table).map(({ row }) => row);
        const constant = (table: number, c: number): number => split.constants.get(table)?.get(c) as number;
        return concrete(access, count, (variable) => variables.get(variable) as number, constant, here);
      }),
    ),
  }));
}

function range(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}

function subsets(count: number): readonly (readonly number[])[] {
  return range(2 ** count).map((bits) => range(count).filter((index) => (bits >> index) % 2 === 1));
}

function choices<T>(options: readonly (readonly T[])[]): readonly (readonly T[])[] {
  return options.reduce<readonly (readonly T[])[]>(
    (all, of) => all.flatMap((done) => of.map((one) => [...done, one])),
    [[]],
  );
}
