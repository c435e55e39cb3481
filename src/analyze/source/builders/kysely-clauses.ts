/** What each method of a Kysely query adds to the statement. */
import type ts from 'typescript';
import { type Abstract, native, type Native, undefinedValue, type Fragment } from '../abstract-value.ts';
import type { Clause } from './chain.ts';
import { assignmentsOf, withRows } from './written-rows.ts';
import { constantText, join, operand, parenthesized, whyNotConstant, notRead } from './fragment.ts';
import { identifier } from './identifier.ts';
import {
  callback,
  conditionOf,
  type Naming,
  path,
  reference,
  selections,
  tables,
  valueFragment,
} from './kysely-expressions.ts';
import { type Condition, type Query, withCondition } from './query.ts';

type Of = Clause<Naming>;

const same: Of = ({ query }) => query;

const select: Of = ({ query, names }, [value], at) => ({
  ...query,
  columns: [...query.columns, ...selections(names, value, at)],
});

const selectAll: Of = ({ query, names }, [table]) => ({
  ...query,
  columns: [...query.columns, ...everything(names, table)],
});

function everything(names: Naming, table: Abstract | undefined): readonly Fragment[] {
  const list = table?.kind === 'array' ? table.elements.value : [table];
  return list.map((one) => {
    const name = constantText(one);
    return [name === undefined ? '*' : `${path(names, name)}.*`];
  });
}

const where: Of = ({ query, names }, args, at) => withCondition(query, conditionOf(names, args, at));

const whereRef: Of = ({ query, names }, args, at) => withCondition(query, comparedColumns(names, args, at));

const having: Of = ({ query, names }, args, at) => ({
  ...query,
  having: [...query.having, { connective: 'AND', fragment: conditionOf(names, args, at) }],
});

function comparedColumns(names: Naming, [left, operator, right]: readonly Abstract[], at: ts.Node): Fragment {
  return [...reference(names, left, at), ` ${constantText(operator) ?? '='} `, ...reference(names, right, at)];
}

function joining(keyword: string): Of {
  return ({ query, names }, [table, left, right], at) => {
    const joined = join(tables(names, table, at), ', ');
    const on =
      left === undefined
        ? []
        : left.kind === 'function'
          ? onClauses(names, left, at)
          : [
              {
                connective: 'AND' as const,
                fragment: comparedColumns(names, [left, undefinedValue, right ?? undefinedValue], at),
              },
            ];
    const condition = on.flatMap(({ connective, fragment }, index) =>
      index === 0 ? [' ON ', ...fragment] : [` ${connective} `, ...fragment],
    );
    return { ...query, joins: [...query.joins, [`${keyword} `, ...joined, ...condition]] };
  };
}

/** `(join) => join.onRef('a.id', '=', 'b.id').on('b.n', '>', 1)` */
function onClauses(names: Naming, fn: Abstract, at: ts.Node): readonly Condition[] {
  const conditions: Condition[] = [];
  const builder: Native = {
    kind: 'native',
    title: 'a join of Kysely',
    isHandle: false,
    member: (name) =>
      native(name, (args, callAt) => {
        const fragment =
          name === 'onRef'
            ? comparedColumns(names, args, callAt)
            : name === 'on'
              ? conditionOf(names, args, callAt)
              : name === 'onTrue'
                ? ['TRUE']
                : notRead(`\`${name}\` of a join of Kysely is not read`);
        conditions.push({ connective: 'AND', fragment });
        return builder;
      }),
  };
  names.machine.call(fn, [builder], at);
  return conditions;
}

const set: Of = ({ machine, query, names }, [first, value], at) => {
  const name = constantText(first);
  const of = (one: Abstract): Fragment => valueFragment(names, one, at);
  if (name !== undefined && value !== undefined)
    return { ...query, assignments: [...query.assignments, [`${path(names, name)} = `, ...of(value)]] };
  const object = first?.kind === 'function' ? callback(names, first, at) : first;
  return { ...query, assignments: [...query.assignments, ...assignmentsOf(machine, query, object, names.nameOf, of)] };
};

const values: Of = ({ machine, query, names }, [rows], at) => {
  const known = rows?.kind === 'function' ? callback(names, rows, at) : rows;
  return withRows(machine, query, known, names.nameOf, (one) => valueFragment(names, one, at));
};

const returning: Of = ({ query, names }, [value], at) => ({
  ...query,
  returning: [...query.returning, ...selections(names, value, at)],
});

const lock =
  (text: string): Of =>
  ({ query, names }, [table], at) => {
    if (table === undefined) return { ...query, lock: text };
    const of = join(tables(names, table, at), ', ').filter((part) => typeof part === 'string');
    return { ...query, lock: `${text} OF ${of.join('')}` };
  };

const orderBy: Of = ({ query, names }, [value, direction], at) => {
  if (value?.kind === 'array') {
    const list = value.elements.value.map((one) => ordered(names, one, undefined, at));
    return { ...query, orderBy: [...query.orderBy, ...list] };
  }
  return { ...query, orderBy: [...query.orderBy, ordered(names, value, direction, at)] };
};

function ordered(names: Naming, value: Abstract | undefined, direction: Abstract | undefined, at: ts.Node): Fragment {
  const [name, written] = constantText(value)?.split(' ') ?? [];
  const column = name === undefined ? reference(names, value, at) : [path(names, name)];
  const way = written ?? constantText(direction);
  return way === undefined ? column : [...column, ` ${way.toUpperCase()}`];
}

const limit: Of = ({ query }, [count]) => ({ ...query, limit: operand(count ?? undefinedValue) });

function combining(keyword: string): Of {
  return ({ query, names }, [other], at) => {
    const known = other?.kind === 'function' ? callback(names, other, at) : other;
    const sql = known?.kind === 'native' ? known.sql?.() : undefined;
    const half = sql ?? notRead(`the other half of ${keyword} is ${whyNotConstant(known)}`);
    return { ...query, sets: [...query.sets, [`${keyword} `, ...half]] };
  };
}

/** `(oc) => oc.column('id').doUpdateSet({ ... })` */
const onConflict: Of = ({ machine, query, names }, [fn], at) => {
  const parts: Fragment[] = [];
  const builder: Native = {
    kind: 'native',
    title: 'a conflict of Kysely',
    isHandle: false,
    member: (name) =>
      native(name, (args, callAt) => {
        parts.push(conflictPart(names, query, name, args, callAt));
        return builder;
      }),
  };
  machine.call(fn ?? undefinedValue, [builder], at);
  return { ...query, conflict: [' ON CONFLICT', ...parts.flat()] };
};

function conflictPart(names: Naming, query: Query, name: string, args: readonly Abstract[], at: ts.Node): Fragment {
  const [first] = args;
  const { machine } = names;
  switch (name) {
    case 'column':
    case 'columns':
    case 'expression':
      return [' ', ...parenthesized(join(selections(names, first, at), ', '))];
    case 'constraint':
      return [` ON CONSTRAINT ${identifier(constantText(first) ?? '?', machine.dialect)}`];
    case 'doNothing':
      return [' DO NOTHING'];
    case 'doUpdateSet': {
      const object = first?.kind === 'function' ? callback(names, first, at) : first;
      const written = assignmentsOf(machine, query, object, names.nameOf, (one) => valueFragment(names, one, at));
      return [' DO UPDATE SET ', ...join(written, ', ')];
    }
    case 'where':
      return [' WHERE ', ...conditionOf(names, args, at)];
    default:
      return notRead(`\`${name}\` of ON CONFLICT is not read`);
  }
}

const onDuplicate: Of = ({ machine, query, names }, [object], at) => ({
  ...query,
  conflict: [
    ' ON DUPLICATE KEY UPDATE ',
    ...join(
      assignmentsOf(machine, query, object, names.nameOf, (one) => valueFragment(names, one, at)),
      ', ',
    ),
  ],
});

export const kyselyClauses: Readonly<Record<string, Of>> = {
  select,
  selectAll,
  where,
  whereRef,
  having,
  set,
  values,
  returning,
  returningAll: ({ query, names }, [table]) => ({
    ...query,
    returning: [...query.returning, ...everything(names, table)],
  }),
  onConflict,
  onDuplicateKeyUpdate: onDuplicate,
  defaultValues: same,
  columns: ({ query, names, machine }, [list]) => ({
    ...query,
    insertColumns: (list?.kind === 'array' ? list.elements.value : []).map((one) =>
      identifier(names.nameOf(constantText(one) ?? '?'), machine.dialect),
    ),
  }),
  expression: ({ query, names }, [fn], at) => {
    const inner = fn?.kind === 'function' ? callback(names, fn, at) : fn;
    return {
      ...query,
      source: inner?.kind === 'native' ? (inner.sql?.() ?? []) : notRead('the source of INSERT is not read'),
    };
  },
  from: ({ query, names }, [table], at) => ({ ...query, others: [...query.others, ...tables(names, table, at)] }),
  using: ({ query, names }, [table], at) => ({ ...query, others: [...query.others, ...tables(names, table, at)] }),
  innerJoin: joining('JOIN'),
  leftJoin: joining('LEFT JOIN'),
  rightJoin: joining('RIGHT JOIN'),
  fullJoin: joining('FULL JOIN'),
  crossJoin: joining('CROSS JOIN'),
  innerJoinLateral: joining('JOIN LATERAL'),
  leftJoinLateral: joining('LEFT JOIN LATERAL'),
  distinct: ({ query }) => ({ ...query, distinct: ['DISTINCT '] }),
  distinctOn: ({ query, names }, [value], at) => ({
    ...query,
    distinct: ['DISTINCT ON ', ...parenthesized(join(selections(names, value, at), ', ')), ' '],
  }),
  groupBy: ({ query, names }, [value], at) => ({
    ...query,
    groupBy: [...query.groupBy, ...selections(names, value, at)],
  }),
  orderBy,
  clearOrderBy: ({ query }) => ({ ...query, orderBy: [] }),
  clearSelect: ({ query }) => ({ ...query, columns: [] }),
  clearWhere: ({ query }) => ({ ...query, where: [] }),
  clearLimit: ({ query }) => ({ ...query, limit: null }),
  limit,
  offset: ({ query }, [count]) => ({ ...query, offset: operand(count ?? undefinedValue) }),
  union: combining('UNION'),
  unionAll: combining('UNION ALL'),
  intersect: combining('INTERSECT'),
  except: combining('EXCEPT'),
  forUpdate: lock('FOR UPDATE'),
  forNoKeyUpdate: lock('FOR NO KEY UPDATE'),
  forShare: lock('FOR SHARE'),
  forKeyShare: lock('FOR KEY SHARE'),
  skipLocked: ({ query }) => ({ ...query, wait: 'SKIP LOCKED' }),
  noWait: ({ query }) => ({ ...query, wait: 'NOWAIT' }),
  $castTo: same,
  $narrowType: same,
  $assertType: same,
};
