import { describe, expect, test } from 'vitest';
import type { Level } from './access.ts';
import { isRobust, weakestLevels } from './allocate.ts';
import type { Template, TemplateAccess } from './templates.ts';

/** The robust subsets of the two benchmarks as research on transaction templates (PVLDB 2021) gives them, recalled. */

/** Columns by name, one bit each; tables by name. Variables are numbered as they are met. */
function template(name: string, ...accesses: readonly string[]): Template {
  const variables = new Map<string, number>();
  const parse = (text: string): TemplateAccess => {
    const [, kind, variable, table, reads = '', writes = ''] =
      /^(\w) (\w+):(\w+)(?:\{([^}]*)\})?(?:\{([^}]*)\})?$/.exec(text) as string[];
    const key = `${variable}:${table}`;
    const number = variables.get(key) ?? variables.size;
    variables.set(key, number);
    const row = { kind: 'variable', variable: number } as const;
    const at = { table: bit(tables, table as string), row, locks: false };
    if (kind === 'R') return { ...at, reads: mask(reads), writes: 0 };
    if (kind === 'W') return { ...at, reads: 0, writes: mask(reads) };
    return { ...at, reads: mask(reads), writes: mask(writes) };
  };
  return { name, statements: accesses.map((text) => [parse(text)]) };
}

const tables: string[] = [];
const columns: string[] = [];
function bit(names: string[], name: string): number {
  if (!names.includes(name)) names.push(name);
  return names.indexOf(name);
}
function mask(text: string): number {
  return text.split(' ').reduce((bits, name) => bits | (1 << bit(columns, name)), 0);
}

/** The largest subsets that are robust where all templates have one level. */
function robustSubsets(templates: readonly Template[], level: Level): readonly string[] {
  const subsets = Array.from({ length: 2 ** templates.length - 1 }, (_, bits) =>
    templates.filter((_one, index) => ((bits + 1) >> index) % 2 === 1),
  );
  const robust = subsets.filter((subset) =>
    isRobust(
      subset,
      subset.map(() => level),
    ),
  );
  const isLargest = (subset: readonly Template[]): boolean =>
    !robust.some((other) => other.length > subset.length && subset.every((one) => other.includes(one)));
  return robust
    .filter(isLargest)
    .map((subset) => subset.map(({ name }) => name).join(' '))
    .toSorted();
}

const account = (x: string): string => `R ${x}:account{name id}`;
const atomic = {
  balance: template('Bal', account('x'), 'R y:savings{id balance}', 'R z:checking{id balance}'),
  deposit: template('DC', account('x'), 'U z:checking{id balance}{balance}'),
  transact: template('TS', account('x'), 'U y:savings{id balance}{balance}'),
  amalgamate: template(
    'Am',
    account('x1'),
    account('x2'),
    'U y1:savings{id balance}{balance}',
    'U z1:checking{id balance}{balance}',
    'U z2:checking{id balance}{balance}',
  ),
  write: template(
    'WC',
    account('x'),
    'R y:savings{id balance}',
    'R z:checking{id balance}',
    'U z:checking{id balance}{balance}',
  ),
};
const smallBank = Object.values(atomic);

/** The same programs with a SELECT and an UPDATE in place of one statement that does both. */
const smallBankInTwo = smallBank.map(({ name, statements }) => ({
  name,
  statements: statements.flatMap(([access]) => {
    const { reads, writes } = access as TemplateAccess;
    if (reads === 0 || writes === 0) return [[access as TemplateAccess]];
    return [[{ ...(access as TemplateAccess), writes: 0 }], [{ ...(access as TemplateAccess), reads: 0 }]];
  }),
}));

const tpcC = [
  template(
    'NO',
    'R w:warehouse{w_id w_tax}',
    'U d:district{d_id d_tax next_o_id}{next_o_id}',
    'R c:customer{c_id c_info}',
    'W o:orders{o_id o_c_id carrier}',
    'W n:new_order{no_id}',
    'R i:item{i_id price}',
    'U s:stock{s_id quantity s_ytd s_info}{quantity s_ytd}',
    'W l:order_line{ol_id ol_i_id delivered amount}',
    'R i2:item{i_id price}',
    'U s2:stock{s_id quantity s_ytd s_info}{quantity s_ytd}',
    'W l2:order_line{ol_id ol_i_id delivered amount}',
  ),
  template(
    'Pay',
    'U w:warehouse{w_id w_name w_ytd}{w_ytd}',
    'U d:district{d_id d_name d_ytd}{d_ytd}',
    'U c:customer{c_id c_info c_balance c_data}{c_balance c_data}',
    'W h:history{h_info}',
  ),
  template(
    'OS',
    'R c:customer{c_id c_info c_balance}',
    'R o:orders{o_id o_c_id carrier}',
    'R l:order_line{ol_id ol_i_id delivered amount}',
    'R l2:order_line{ol_id ol_i_id delivered amount}',
  ),
  template(
    'Del',
    'R n:new_order{no_id}',
    'W n:new_order{no_id}',
    'R o:orders{o_id o_c_id}',
    'W o:orders{carrier}',
    'W l:order_line{delivered}',
    'W l2:order_line{delivered}',
    'R l:order_line{ol_id amount}',
    'R l2:order_line{ol_id amount}',
    'U c:customer{c_id c_balance}{c_balance delivery_cnt}',
  ),
  template(
    'SL',
    'R d:district{d_id next_o_id}',
    'R l:order_line{ol_id ol_i_id}',
    'R s:stock{s_id quantity}',
    'R l2:order_line{ol_id ol_i_id}',
    'R s2:stock{s_id quantity}',
  ),
];

describe('SmallBank', () => {
  test('at read committed, updates in one statement', () => {
    expect(robustSubsets(smallBank, 'RC')).toEqual(['Bal DC', 'Bal TS', 'DC TS Am'].toSorted());
  });

  test('at read committed, a SELECT before each UPDATE', () => {
    expect(robustSubsets(smallBankInTwo, 'RC')).toEqual(['Bal']);
  });

  test('at snapshot isolation', () => {
    expect(robustSubsets(smallBank, 'SI')).toEqual(['Bal DC TS Am', 'Bal DC WC', 'DC TS Am WC'].toSorted());
  });

  test('the weakest levels', () => {
    expect(weakestLevels(smallBank)).toEqual(['SSI', 'RC', 'SSI', 'SSI', 'SSI']);
  });
});

describe('TPC-C by key', () => {
  test('at read committed', () => {
    expect(robustSubsets(tpcC, 'RC')).toEqual(['NO Pay', 'Pay OS SL'].toSorted());
  });

  test('at snapshot isolation as a whole', () => {
    expect(robustSubsets(tpcC, 'SI')).toEqual(['NO Pay OS Del SL']);
  });

  test('the weakest levels', () => {
    expect(weakestLevels(tpcC)).toEqual(['RC', 'RC', 'SI', 'SI', 'SI']);
  });
});
