/**
 * Treiber's stack on a key-value store, with compare-and-swap as its only transaction of more than one operation (MonkeyDB, OOPSLA 2021,
 * section 7.1; Nagar et al., CONCUR 2020).
 *
 * Every pushed value is unique, so no two pops should return the same one.
 */
import { program, type SessionHandle } from 'moirai';

interface Node {
  value: string;
  next: string | null;
}

const compareAndSwap = (session: SessionHandle, expected: string | null, replacement: string | null) =>
  session.transaction(async (t) => {
    if ((await t.read<string | null>('head')) !== expected) return false;
    await t.write('head', replacement);
    return true;
  });

const push = async (session: SessionHandle, value: string) => {
  const node = `node:${value}`;
  for (;;) {
    const top = await session.read<string | null>('head');
    await session.write(node, { value, next: top });
    if (await compareAndSwap(session, top, node)) return;
  }
};

/** The value on top, or `null` when the stack is empty. */
const pop = async (session: SessionHandle) => {
  for (;;) {
    const top = await session.read<string | null>('head');
    if (top === null) return null;
    const { value, next } = await session.read<Node>(top);
    if (await compareAndSwap(session, top, next)) return value;
  }
};

export default program({
  initial: { head: null },
  sessions: {
    a: async (session) => {
      await push(session, 'a1');
      await push(session, 'a2');
      return [await pop(session)];
    },
    b: async (session) => {
      const first = await pop(session);
      await push(session, 'b1');
      return [first, await pop(session)];
    },
    c: async (session) => [await pop(session), await pop(session), await pop(session)],
  },
  invariant: ({ results, sometimes }) => {
    const popped = [...results.a, ...results.b, ...results.c].filter((value) => value !== null);
    sometimes('everything was popped', popped.length === 3);
    const twice = popped.find((value, i) => popped.indexOf(value) < i);
    return twice === undefined || `${twice} was popped more than once`;
  },
});
