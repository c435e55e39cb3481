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
        await t.write(
          'cart',
          cart.filter((item) => item !== 'lamp'),
        );
      }),
    reader: async (session) => [await session.read<string[]>('cart'), await session.read<string[]>('cart')],
  },
  invariant: ({
    results: {
      reader: [first, second],
    },
  }) => first!.includes('lamp') || !second!.includes('lamp') || 'a deleted item came back',
});
