import { formatUsd } from '@florin/sdk';
import { products } from '../shop.js';

const labelOf = ({ name, price }) => `${name}, $${formatUsd(price)}`;

export default function Page() {
  const buttons = Object.entries(products).map(([id, product]) => (
    <button type="submit" name="product" value={id} key={id}>
      {labelOf(product)}
    </button>
  ));
  return (
    <form method="post" action="/api/checkout">
      {buttons}
    </form>
  );
}
