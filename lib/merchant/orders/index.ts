// The payments library as it is published (`bcoin-rest/payments`): the protocol, and a merchant built on it. It depends on nothing else
// of this package.

export * from '../../payments/index';

export type { ConfirmingBlock, MerchantChain, Standing, TracedTransaction } from './chain';
export { FolderStorage, type PaymentStorage } from './storage';
export { DamagedRecordError, type PaymentOutcome, type Receipt, type StoredPayment, type StoredRequest } from './record';
export { PaymentStore } from './store';
export { Merchant, type CreatedRequest, type MerchantOptions, type OrderView } from './merchant';
export type { Order } from './order';
export type { PaymentState, Received, ReceivedOutput } from './receipts';
export type { OrderProgress, OrderStatus } from './progress';
export type { UnreadableOrder, OrderPage, OrderQuery } from './order-list';
export type { WaysToPay } from './ways-to-pay';
export type { OrderObserver } from './order-watch';
export type { PageAssets } from './page-document';
export { answerCreate, answerGet, answerList, answerPay, answerProgress, noticeReply, type PaymentReply } from './http';
