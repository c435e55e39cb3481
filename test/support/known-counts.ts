/** Numbers of histories of small programs at every level, found by two independent searches before, several of them by hand. */
import type { Program } from '../../src/program/index.ts';
import { programOf, smallProgram, type SmallTransaction } from './small-program.ts';

export const levelsOfCounts = [
  'read-committed',
  'read-atomic',
  'causal',
  'prefix',
  'snapshot-isolation',
  'serializable',
] as const;

/** Known counts of histories, checked by two independent searches before: in the order of the levels above. */
const texts: readonly (readonly [string, string, readonly number[]])[] = [
  ['store buffering', '[ry wx=1] || [rx wy=1]', [3, 3, 3, 3, 3, 2]],
  ['store buffering, split', 'wx;ry || wy;rx', [4, 4, 4, 3, 3, 3]],
  ['write skew', '[rx ry wx] || [rx ry wy]', [3, 3, 3, 3, 3, 2]],
  ['lost update, 2 sessions', 'x+ || x+', [3, 3, 3, 3, 2, 2]],
  ['lost update, 3 sessions', 'x+ || x+ || x+', [16, 16, 16, 16, 6, 6]],
  ['lost update, 2 x 2 increments', 'x+;x+ || x+;x+', [61, 19, 19, 19, 6, 6]],
  ['message passing', '[wx wy] || [ry rx]', [3, 2, 2, 2, 2, 2]],
  ['fractured', '[wx wy] || [rx ry]', [3, 2, 2, 2, 2, 2]],
  ['message passing, split', 'wx;wy || ry;rx', [4, 4, 3, 3, 3, 3]],
  ['message passing, split writer', 'wx;wy || [ry rx]', [4, 4, 3, 3, 3, 3]],
  ['non-repeatable', '[rx rx] || wx', [3, 2, 2, 2, 2, 2]],
  ['coherence of reads', 'wx=1 || wx=2 || rx;rx', [9, 9, 7, 7, 7, 7]],
  ['coherence of reads in one transaction', 'wx=1 || wx=2 || [rx rx]', [7, 3, 3, 3, 3, 3]],
  ['write to read causality', 'wx || [rx wy] || ry;rx', [8, 8, 7, 7, 7, 7]],
  ['long fork', 'wx || wy || [rx ry] || [ry rx]', [16, 16, 16, 14, 14, 14]],
  ['independent reads of independent writes', 'wx || wy || rx;ry || ry;rx', [16, 16, 16, 15, 15, 15]],
  ['readers of two writers', 'rx || rx || wx=1 || wx=2', [9, 9, 9, 9, 9, 9]],
  ['ring of 3', '[ry wx] || [rz wy] || [rx wz]', [7, 7, 7, 7, 7, 6]],
  ['the regression of the swapped clause', '[ry rx] || [rx wy=1];[wx=2] || [wx=3]', [12, 12, 9, 9, 9, 8]],
  [
    '3 sessions of read-one write-other',
    '[rx wy];[ry wx] || [rx wy];[ry wx] || [rx wy];[ry wx]',
    [592, 67, 67, 67, 61, 39],
  ],
];

const withdraw =
  (account: string): SmallTransaction =>
  async (t) => {
    const [x, y] = [await t.read<number>('x'), await t.read<number>('y')];
    if (x + y >= 0) await t.write(account, (account === 'x' ? x : y) - 40);
  };
const bankSkew = programOf([[withdraw('x')], [withdraw('y')]]);

const simpleTest = programOf([
  [
    async (t) => {
      await t.write('x', 1);
      await t.write('y', 1);
    },
    async (t) => {
      if ((await t.read('y')) === 0) await t.write('y', -1);
    },
  ],
  [
    async (t) => {
      await t.read('x');
      await t.read('y');
      await t.write('z', 1);
    },
  ],
  [
    async (t) => {
      for (const key of ['x', 'y', 'z']) await t.read(key);
    },
  ],
]);

/** Name, program, and the counts in the order of `levelsOfCounts`. */
export const knownCounts: readonly (readonly [string, Program, readonly number[]])[] = [
  ...texts.map(([name, text, counts]) => [`${name}: ${text}`, smallProgram(text), counts] as const),
  ['a withdrawal that looks at both accounts first', bankSkew, [3, 3, 3, 3, 3, 2]],
  ['a write that depends on a read', simpleTest, [68, 8, 7, 7, 7, 6]],
];
