import { expect, test } from 'vitest';
import { seeded } from './chooser.ts';
import { SmallMap } from './small-map.ts';

test('answers as a Map does, whatever comes and goes', () => {
  const chooser = seeded(1);
  const small = new SmallMap<number, string>();
  const map = new Map<number, string>();
  for (let i = 0; i < 5_000; i += 1) {
    const key = chooser.choose(6);
    switch (chooser.choose(20)) {
      case 0:
        small.clear();
        map.clear();
        break;
      case 1:
      case 2:
      case 3:
      case 4:
      case 5:
      case 6:
      case 7:
      case 8:
        expect(small.delete(key)).toBe(map.delete(key));
        break;
      default:
        small.set(key, `${i}`);
        map.set(key, `${i}`);
    }
    const asked = chooser.choose(6);
    expect([small.size, small.has(asked), small.get(asked)]).toEqual([map.size, map.has(asked), map.get(asked)]);
    expect(small.values()).toEqual([...map.values()]);
  }
});
