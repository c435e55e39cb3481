/**
 * A shopping cart on a key-value store (MonkeyDB, OOPSLA 2021, section 7.1; Sivaramakrishnan et al., PLDI 2015).
 *
 * Three devices of one user. Each operation reads the cart and writes it back, in a transaction, as most code does. Nobody adds the lamp
 * again, so once the laptop has removed it, it should be gone.
 */
import { program, type SessionHandle } from 'moirai';

type Cart = Record<string, number>;

const addItem = (session: SessionHandle, item: string) =>
  session.transaction(async (t) => {
    const cart = await t.read<Cart>('cart');
    await t.write('cart', { ...cart, [item]: (cart[item] ?? 0) + 1 });
  });

const changeQuantity = (session: SessionHandle, item: string, quantity: number) =>
  session.transaction(async (t) => {
    const cart = await t.read<Cart>('cart');
    if (item in cart) await t.write('cart', { ...cart, [item]: quantity });
  });

const removeItem = (session: SessionHandle, item: string) =>
  session.transaction(async (t) => {
    const { [item]: _removed, ...cart } = await t.read<Cart>('cart');
    await t.write('cart', cart);
  });

const getCart = (session: SessionHandle) => session.read<Cart>('cart');

export default program({
  initial: { cart: { lamp: 1 } },
  sessions: {
    phone: async (session) => {
      await addItem(session, 'book');
      await changeQuantity(session, 'lamp', 2);
      return getCart(session);
    },
    tablet: async (session) => {
      await addItem(session, 'pen');
      return [await getCart(session), await getCart(session)];
    },
    laptop: async (session) => {
      await removeItem(session, 'lamp');
      return [await getCart(session), await getCart(session)];
    },
  },
  invariant: ({ results, sometimes }) => {
    sometimes('the tablet saw the lamp go', 'lamp' in results.tablet[0]! && !('lamp' in results.tablet[1]!));
    return !results.laptop.some((cart) => 'lamp' in cart) || 'the lamp came back after it was removed';
  },
});
