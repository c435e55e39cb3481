import { expect, test } from 'vitest';
import { seeded } from '../base/index.ts';
import {
  compile,
  mapOf,
  memberOf,
  memberOrNone,
  message,
  namedSet,
  processes,
  protocol,
  range,
  setOf,
  shared,
} from './index.ts';

/** Every kind of cell that a renaming changes. */
const mixed = protocol({
  name: 'mixed',
  parameters: {},
  define: () => {
    const T = namedSet('t', 3);
    const R = namedSet('r', 2);
    const sent = message('Sent', T, R);
    const table = message('Table', R, T, R);
    const globals = shared('globals', { owner: memberOrNone(T), by: mapOf(R, memberOf(T)), seen: setOf(T) });
    const t = processes(T, {
      start: 'a',
      variables: { votes: setOf(R), peer: memberOrNone(T), counts: mapOf(T, range(0, 5)), best: memberOf(R) },
      steps: { a: [], b: [] },
    });
    const r = processes(R, { start: 'a', variables: { from: mapOf(T, setOf(R)) }, steps: { a: [] } });
    return { processes: [t, r], messages: [sent, table], shared: [globals], symmetry: [T, R] };
  },
});

test('every image of a state has the same least image, and that is one of them', () => {
  const model = compile(mixed);
  const chooser = seeded(7);
  expect(model.symmetry.order).toBe(12);
  for (let run = 0; run < 200; run += 1) {
    const state = randomState(model.layout, chooser);
    const images = model.symmetry.images(state);
    const least = images.map((image) => {
      const words = image.slice();
      model.symmetry.canonicalise(words);
      return words.join(' ');
    });
    expect(new Set(least).size).toBe(1);
    expect(images.map((image) => image.join(' '))).toContain(least[0]);
    expect(images[0]).toEqual(state);
  }
});

function randomState(
  layout: ReturnType<typeof compile>['layout'],
  chooser: { choose: (n: number) => number },
): Int32Array {
  const state = new Int32Array(layout.words);
  for (const { base, stride, set, cells } of layout.blocks) {
    for (let member = 0; member < (set?.size ?? 1); member += 1) {
      for (const { cell, word, shift } of cells) {
        state[base + member * stride + word]! |= chooser.choose(cell.size) << shift;
      }
    }
  }
  return state;
}
