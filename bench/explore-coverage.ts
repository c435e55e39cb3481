/** After how many random runs `moirai test` has seen a half, nine tenths and 99 of 100 of the histories that explore lists. */
import { seeded } from '#moirai/base';
import { explore } from '#moirai/explore';
import { formatHistory } from '#moirai/history';
import type { ConstrainingLevel } from '#moirai/isolation';
import { drawing, MockDatabase } from '#moirai/mockdb';
import { type Program, runProgram } from '#moirai/program';
import bankTransfer from '../examples/bank-transfer.ts';
import cart from '../examples/cart.ts';
import courseware from '../examples/courseware.ts';
import { clients } from '../examples/pldi2023/applications.ts';
import shoppingCart from '../examples/shopping-cart.ts';
import twitter from '../examples/twitter.ts';

const shares = [0.5, 0.9, 0.99] as const;

const programs: Readonly<Record<string, Program>> = {
  'cart.ts': cart,
  'bank-transfer.ts': bankTransfer,
  'courseware.ts': courseware,
  'shopping-cart.ts': shoppingCart,
  'twitter.ts': twitter,
  'client courseware 2': clients['courseware 2'] as Program,
  'client twitter 1': clients['twitter 1'] as Program,
  'client courseware 1': clients['courseware 1'] as Program,
};

export async function coverageRows(runsMax: number): Promise<string[][]> {
  const rows = [['program', 'level', 'histories', 'runs to 50 %', '90 %', '99 %', 'seen in the end']];
  for (const [name, program] of Object.entries(programs)) {
    for (const level of ['causal', 'serializable'] as const)
      rows.push([name, level, ...(await coverage(program, level, runsMax))]);
  }
  return rows;
}

async function coverage(program: Program, level: ConstrainingLevel, runsMax: number): Promise<string[]> {
  const all = new Set<string>();
  const { complete } = await explore(program, {
    level,
    onHistory: (history) => void all.add(formatHistory(history())),
  });
  if (!complete) return ['not all', '', '', '', ''];
  const database = new MockDatabase({ level, initial: program.initial, sessionNames: program.sessionNames });
  const seen = new Set<string>();
  const reached: (number | null)[] = shares.map(() => null);
  for (let run = 1; run <= runsMax && seen.size < all.size; run += 1) {
    const decisions = drawing({ chooser: seeded(1, run) });
    database.reset(decisions);
    await runProgram(program, database, { nextSession: decisions.session });
    const text = formatHistory(database.history());
    if (!all.has(text)) throw new Error(`${level} shows a history that explore does not list:\n${text}`);
    seen.add(text);
    shares.forEach((share, i) => {
      if (reached[i] === null && seen.size >= share * all.size) reached[i] = run;
    });
  }
  return [
    String(all.size),
    ...reached.map((run) => (run === null ? `> ${runsMax}` : String(run))),
    `${((100 * seen.size) / all.size).toFixed(1)} %`,
  ];
}
