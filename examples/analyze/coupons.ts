/** A coupon is redeemed by two statements that nothing makes one transaction. */
import { application, argument, branch, column, expression, statement } from 'moirai/analyze';

export default application({
  schema: 'CREATE TABLE coupons (code text PRIMARY KEY, max_uses int NOT NULL, uses int NOT NULL)',
  units: {
    'POST /coupon/:code': [
      statement('SELECT uses, max_uses FROM coupons WHERE code = $1', [argument('code')], 'coupon'),
      branch(expression('<', column('coupon', 'uses'), column('coupon', 'max_uses')), [
        statement('UPDATE coupons SET uses = uses + 1 WHERE code = $1', [argument('code')]),
      ]),
    ],
  },
});
