import { program } from 'moirai';

export default program({
  initial: { cart: ['lamp'] },
  sessions: {
    adder: (session) =>
      session.transaction(async (t) => {
        const cart = await t.read<string[]>('cart');
        await t.write('cart', [...cart, 'book']);
      }),
    remover: (session) =>
      session.transaction(async (t) => {
        const cart = await t.read<string[]>('cart');
        const rest = cart.filter((item) => item !== 'lamp');
        await t.write('cart', rest);
      }),
    reader: async (session) => ({
      before: await session.read<string[]>('cart'),
      after: await session.read<string[]>('cart'),
    }),
  },
  invariant: ({ results: { reader } }) =>
    reader.before.includes('lamp') || !reader.after.includes('lamp') || 'a deleted item came back',
});
