import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ClockOffset } from './clock-offset.ts';

const ns = 1e9;

test('the true time is within the bound, whatever the delays, the offset and the drift', () => {
  const step = fc.record({
    gap: fc.nat(2 * ns),
    there: fc.nat(5e6),
    back: fc.nat(5e6),
    /** Of the local clock's rate against the reference's, in millionths. */
    drift: fc.integer({ min: -100, max: 100 }),
  });
  fc.assert(
    fc.property(
      fc.integer({ min: -1e15, max: 1e15 }),
      fc.array(step, { minLength: 1, maxLength: 30 }),
      (offset, steps) => {
        const clock = new ClockOffset({ drift: 0.0002 });
        let [reference, local] = [1e15, 1e15 + offset];
        let last = -Infinity;
        const pass = (time: number, drift: number): void => {
          reference += time;
          local += time * (1 + drift / 1e6);
        };
        for (const { gap, there, back, drift } of steps) {
          const sent = local;
          pass(there, drift);
          const told = reference;
          pass(back, drift);
          expect(clock.sample(sent, local, told)).toBe(true);
          for (const part of [0, gap / 2, gap / 2]) {
            pass(part, drift);
            const estimate = clock.reference(local);
            expect(Math.abs(estimate - reference)).toBeLessThanOrEqual(clock.error(local));
            expect(estimate).toBeGreaterThanOrEqual(last);
            last = estimate;
          }
        }
      },
    ),
  );
});

test('a short round trip is worth more than a long one, and ages', () => {
  const clock = new ClockOffset({ drift: 0.0001 });
  expect(clock.error(0)).toBe(Infinity);
  clock.sample(0, 1_000_000, 500_000_000);
  expect(clock.error(1_000_000)).toBeLessThan(500_200);
  clock.sample(2_000_000, 2_010_000, 502_000_000);
  expect(clock.error(2_010_000)).toBeLessThan(5_200);
  clock.sample(3_000_000, 4_000_000, 503_500_000);
  expect(clock.error(4_000_000)).toBeLessThan(5_500);
  expect(clock.error(4_000_000 + ns)).toBeGreaterThan(100_000);
});

test('a clock that has jumped is noticed', () => {
  const clock = new ClockOffset();
  clock.sample(0, 1_000, 500);
  expect(clock.sample(2_000, 3_000, 900_000_500)).toBe(false);
  expect(clock.reference(3_000)).toBeGreaterThan(900_000_000);
});
