import { notFound } from 'next/navigation';
import { findOrder, products } from '../../../shop.js';
import { OpenOrder } from './open-order.jsx';

export default async function Page({ params }) {
  const order = findOrder((await params).order);
  if (order === undefined) notFound();
  const { product, status, payment_url: paymentUrl } = order;
  return (
    <main>
      <h1>Order: {status}</h1>
      <p>{products[product]?.name}</p>
      {status === 'open' && <OpenOrder origin={process.env.FLORIN_URL} paymentUrl={paymentUrl} />}
    </main>
  );
}
