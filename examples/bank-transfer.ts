/**
 * Write skew (Berenson et al., SIGMOD 1995, A5B): two accounts of a couple may go below zero one at a time, but not together. Each
 * withdrawal checks the sum and then changes one account, so the two transactions write different keys and snapshot isolation lets both go.
 */
import { program, type SessionHandle } from 'moirai';

const withdraw = (session: SessionHandle, account: string, amount: number) =>
  session.transaction(async (t) => {
    const checking = await t.read<number>('checking');
    const savings = await t.read<number>('savings');
    if (checking + savings < amount) return false;
    await t.write(account, (account === 'checking' ? checking : savings) - amount);
    return true;
  });

export default program({
  initial: { checking: 30, savings: 30 },
  sessions: {
    alice: (session) => withdraw(session, 'checking', 40),
    bob: (session) => withdraw(session, 'savings', 40),
  },
  invariant: ({ final, sometimes }) => {
    sometimes('one of the two was refused', final['checking'] + final['savings'] === 20);
    return (
      final['checking'] + final['savings'] >= 0 || `the accounts hold ${final['checking'] + final['savings']} together`
    );
  },
});
