'use client';

import { Checkout, FlorinProvider } from '@florin/react';
import { useRouter } from 'next/navigation';
import { useEffect } from 'react';

/** The checkout of an open order. What it tells is news and no proof, so the page is read again until the webhook has come. */
export function OpenOrder({ origin, paymentUrl }) {
  const router = useRouter();
  useEffect(() => {
    const timer = setInterval(() => router.refresh(), 2_000);
    return () => clearInterval(timer);
  }, [router]);
  return (
    <FlorinProvider origin={origin}>
      <Checkout paymentUrl={paymentUrl} onPaid={() => router.refresh()} />
    </FlorinProvider>
  );
}
