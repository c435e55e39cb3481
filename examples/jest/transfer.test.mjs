/** A campaign as an ordinary test: `node --experimental-vm-modules node_modules/jest/bin/jest.js`, because moirai is an ES module. */
import { program, testProgram } from 'moirai';

const book = (session) =>
  session.transaction(async (t) => {
    const seats = await t.read('seats');
    if (seats === 0) return false;
    await t.write('seats', seats - 1);
    return true;
  });

const booking = program({
  initial: { seats: 1 },
  sessions: { ann: book, bob: book },
  invariant: ({ results }) => !(results.ann && results.bob) || 'the last seat was sold twice',
});

test('the last seat is sold once at snapshot isolation', async () => {
  const { violations } = await testProgram(booking, { level: 'snapshot-isolation' });
  expect(violations).toBe(0);
});

test('... and twice at causal', async () => {
  await expect(testProgram(booking, { level: 'causal' })).rejects.toThrow('the last seat was sold twice');
});
