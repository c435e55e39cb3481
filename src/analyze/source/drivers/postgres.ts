/** postgres.js: tagged templates whose holes are parameters, `sql.begin`, fragments from `sql(...)`. */
import type ts from 'typescript';
import {
  type Abstract,
  arrayOf,
  constant,
  native,
  type Native,
  objectOf,
  plain,
  undefinedValue,
} from '../abstract-value.ts';
import type { Connection } from '../emitter.ts';
import type { Driver, Machine, Owner } from '../machine.ts';
import { levelIn } from '../sql-steps.ts';
import { inSavepoint } from '../transactions.ts';
import { constantOf, valueOf } from '../value-arithmetic.ts';

export const postgres: Driver = {
  modules: /^(?:postgres|bun)$/,
  call: (machine, { path }) =>
    /^(?:default|SQL|postgres)$/.test(path.at(-1) ?? 'default') ? sqlOf(machine, null) : undefined,
  construct: (machine, { path }) => (path.at(-1) === 'SQL' ? sqlOf(machine, null) : undefined),
  ofType: (machine, { path }) =>
    /^(?:TransactionSql|ReservedSql)$/.test(path.at(-1) ?? '')
      ? sqlOf(machine, { nextLevel: null })
      : path.at(-1) === 'Sql'
        ? sqlOf(machine, null)
        : undefined,
};

/** A query that was not awaited yet: in another template it is a fragment. */
interface Pieces {
  readonly texts: readonly string[];
  readonly holes: readonly Abstract[];
}

const fragments = new WeakMap<Abstract, Pieces>();
/** Where the pieces are a template. */
const templates = new WeakMap<Pieces, ts.Node>();
/** Of an object: behind SET it is a list of assignments. */
const assignments = new WeakMap<Abstract, Pieces>();

export function sqlOf(machine: Machine, owner: Owner): Native {
  return {
    kind: 'native',
    title: 'sql of postgres.js',
    isHandle: true,
    tag: (texts, holes, at) => query(machine, owner, { texts, holes }, at),
    call: (args) => helper(args),
    member: (name) => memberOf(machine, owner, name),
  };
}

function memberOf(machine: Machine, owner: Owner, name: string): Abstract {
  switch (name) {
    case 'begin':
    case 'transaction':
      return native(name, (args, at) => begin(machine, args, at));
    case 'savepoint':
      return native(name, (args, at) => savepoint(machine, owner, args, at));
    case 'unsafe':
      return native(name, ([text, values], at) =>
        machine.statement(owner, { text: text ?? undefinedValue, parameters: values ?? arrayOf([]), at }),
      );
    case 'reserve':
      return native(name, () => sqlOf(machine, { nextLevel: null }));
    case 'json':
    case 'array':
    case 'typed':
      return native(name, ([value]) => value ?? undefinedValue);
    default:
      return native(name, () => undefinedValue);
  }
}

function begin(machine: Machine, args: readonly Abstract[], at: ts.Node): Abstract {
  const options = constantOf(args.length > 1 ? args[0] : undefined);
  const connection: Connection = { nextLevel: null };
  const fn = args.at(-1) ?? undefinedValue;
  return machine.inTransaction(connection, levelIn(String(options ?? '')), at, () =>
    machine.settle(machine.call(fn, [sqlOf(machine, connection)], at), at),
  );
}

/** `sql.savepoint([name], fn)` */
function savepoint(machine: Machine, owner: Owner, args: readonly Abstract[], at: ts.Node): Abstract {
  const name = constantOf(args[0]);
  const fn = args.at(-1) ?? undefinedValue;
  if (owner === null) return machine.call(fn, [sqlOf(machine, owner)], at);
  return inSavepoint(machine, owner, typeof name === 'string' ? name : 'savepoint', at, () =>
    machine.call(fn, [sqlOf(machine, owner)], at),
  );
}

function query(machine: Machine, owner: Owner, pieces: Pieces, at: ts.Node): Native {
  let result: Abstract | undefined;
  const run = (): Abstract => {
    if (result !== undefined) return result;
    const { text, parameters, parts } = flat(pieces);
    machine.reached.withoutStep(parts);
    return (result = machine.statement(owner, { text, parameters, at }));
  };
  const promise: Native = {
    kind: 'native',
    title: 'a query of postgres.js',
    isHandle: false,
    settle: run,
    member: (name) =>
      /^(?:execute|simple|describe|values|raw|readable|forEach|cursor)$/.test(name)
        ? native(name, () => promise)
        : machine.member(run(), name, at),
  };
  fragments.set(promise, pieces);
  templates.set(pieces, at);
  return promise;
}

/** The text with `$1`, `$2`, ... and the parameters; fragments are part of the text. */
function flat({ texts, holes }: Pieces): {
  readonly text: Abstract;
  readonly parameters: readonly Abstract[];
  readonly parts: readonly ts.Node[];
} {
  const parameters: Abstract[] = [];
  const parts: ts.Node[] = [];
  const write = (pieces: Pieces): string =>
    pieces.texts
      .map((text, index) => {
        const hole = pieces.holes[index];
        if (hole === undefined) return text;
        const fragment = (/\bset\s*$/i.test(text) ? assignments.get(hole) : undefined) ?? fragments.get(hole);
        if (fragment !== undefined) {
          const template = templates.get(fragment);
          if (template !== undefined) parts.push(template);
          return text + write(fragment);
        }
        parameters.push(hole);
        return `${text}$${parameters.length}`;
      })
      .join('');
  return { text: constant(write({ texts, holes })), parameters, parts };
}

/** `sql('name')`, `sql(['a', 'b'])`, `sql(object, 'a', 'b')`: names, lists, the columns and values of INSERT. */
function helper([first, ...rest]: readonly Abstract[]): Abstract {
  const mark: Abstract = objectOf({});
  const columns = rest
    .flatMap((name) => (name.kind === 'array' ? name.elements.value : [name]))
    .map((name) => String(constantOf(name)));
  const text = constantOf(first);
  if (typeof text === 'string') fragments.set(mark, { texts: [`"${text}"`], holes: [] });
  else if (first?.kind === 'array') fragments.set(mark, list(first.elements.value));
  else if (first?.kind === 'object') {
    const listed = columns.length > 0 ? columns : [...first.properties.keys()];
    const values = listed.map((name) => first.properties.get(name)?.value ?? undefinedValue);
    const names = listed.map((name, index) => `${index === 0 ? '' : ', '}"${name}" = `);
    assignments.set(mark, { texts: [...names, ''], holes: values });
    const head = `(${listed.map((name) => `"${name}"`).join(', ')}) VALUES `;
    const { texts, holes } = list(values);
    fragments.set(mark, { texts: [head + (texts[0] ?? ''), ...texts.slice(1)], holes });
  } else if (first !== undefined) fragments.set(mark, { texts: ['(', ')'], holes: [plain(valueOf(first))] });
  return mark;
}

function list(values: readonly Abstract[]): Pieces {
  return { texts: [...values.map((_, index) => (index === 0 ? '(' : ', ')), ')'], holes: values };
}
