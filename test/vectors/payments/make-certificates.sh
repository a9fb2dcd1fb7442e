#!/bin/sh
# Makes the keys and certificates of the tests, once, with openssl (3.0). The results are
# checked in: the tests read these files and need no openssl.
#   sh test/vectors/payments/make-certificates.sh
# Every certificate is valid for 100 years from the day it was made, but for expired.pem;
# the tests say at which time they look.
set -eu
cd "$(dirname "$0")" && rm -rf certificates && mkdir certificates && cd certificates

rsa() { openssl genpkey -quiet -algorithm RSA -pkeyopt "rsa_keygen_bits:$2" -out "$1.key"; }
ec() { openssl genpkey -quiet -algorithm EC -pkeyopt "ec_paramgen_curve:$2" -pkeyopt ec_param_enc:named_curve -out "$1.key"; }

# issue NAME SUBJECT ISSUER EXTENSIONS [more options]: NAME.key must exist.
issue() {
  name=$1 subject=$2 issuer=$3 extensions=$4; shift 4
  printf '%b' "$extensions" > ext.cnf
  openssl req -new -key "$name.key" -subj "$subject" -utf8 -out request.csr
  if [ "$issuer" = "$name" ]; then signer="-key $name.key"; else signer="-CA $issuer.pem -CAkey $issuer.key"; fi
  # shellcheck disable=SC2086
  openssl x509 -req -in request.csr $signer -extfile ext.cnf -days 36500 -sha256 "$@" -out "$name.pem" 2>/dev/null
  rm -f ext.cnf request.csr
}

CA='basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\nsubjectKeyIdentifier=hash\n'
LEAF='basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=serverAuth\nsubjectKeyIdentifier=hash\n'
SHOP='subjectAltName=DNS:shop.example,DNS:www.shop.example\n'

rsa root 4096;            issue root '/O=Test Roots/CN=Test Root' root "$CA"
rsa intermediate 2048;    issue intermediate '/O=Test Roots/CN=Test Intermediate' root "$CA"
rsa rsa2048 2048;         issue rsa2048 '/CN=shop.example' intermediate "$LEAF$SHOP"
rsa rsa4096 4096;         issue rsa4096 '/CN=shop.example' intermediate "$LEAF$SHOP"
ec p256 P-256;            issue p256 '/CN=shop.example' intermediate "$LEAF$SHOP"
ec p384 P-384;            issue p384 '/CN=shop.example' intermediate "$LEAF$SHOP"
ec ec-root P-384;         issue ec-root '/CN=Test EC Root' ec-root "$CA"
ec ec-leaf P-256;         issue ec-leaf '/CN=ec.example' ec-root "$LEAF"'subjectAltName=DNS:ec.example\n' -sha384

cp p256.key expired.key;  issue expired '/CN=shop.example' intermediate "$LEAF$SHOP" -days 1
cp p256.key no-san.key;   issue no-san '/O=Shop Ltd/CN=Shop Ltd' intermediate "$LEAF"
cp p256.key no-subject.key; issue no-subject '/' intermediate "$LEAF"'subjectAltName=critical,DNS:shop.example\n'
cp p256.key no-name.key;  issue no-name '/O=Shop Ltd' intermediate "$LEAF"
cp p256.key wrong-usage.key;    issue wrong-usage '/CN=shop.example' intermediate 'basicConstraints=CA:FALSE\nkeyUsage=critical,keyEncipherment\n'"$SHOP"
cp p256.key wrong-purpose.key;  issue wrong-purpose '/CN=shop.example' intermediate 'keyUsage=digitalSignature\nextendedKeyUsage=emailProtection\n'"$SHOP"
cp p256.key critical.key;       issue critical '/CN=shop.example' intermediate "$LEAF$SHOP"'1.2.3.4.5=critical,ASN1:UTF8String:unknown\n'
cp p256.key unknown.key;        issue unknown '/CN=shop.example' intermediate "$LEAF$SHOP"'1.2.3.4.5=ASN1:UTF8String:unknown\n'
cp p256.key self-signed.key;    issue self-signed '/CN=shop.example' self-signed "$LEAF$SHOP"
cp p256.key sha1.key;           issue sha1 '/CN=shop.example' intermediate "$LEAF$SHOP" -sha1
rsa weak 1024;                  issue weak '/CN=shop.example' intermediate "$LEAF$SHOP"
ec secp256k1 secp256k1;         issue secp256k1 '/CN=shop.example' intermediate "$LEAF$SHOP"

# Issuers that may not issue, each with a leaf of its own.
below() { cp p256.key "$2.key"; issue "$2" '/CN=shop.example' "$1" "$LEAF$SHOP"; }
ec no-ca P-256;           issue no-ca '/CN=No CA' root 'basicConstraints=CA:FALSE\nkeyUsage=keyCertSign\n';   below no-ca below-no-ca
ec no-constraints P-256;  issue no-constraints '/CN=No Constraints' root 'keyUsage=keyCertSign\n';            below no-constraints below-no-constraints
ec no-sign P-256;         issue no-sign '/CN=No Certificate Sign' root 'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,cRLSign\n'; below no-sign below-no-sign
ec path0 P-256;           issue path0 '/CN=Path 0' root 'basicConstraints=critical,CA:TRUE,pathlen:0\nkeyUsage=critical,keyCertSign\n'; below path0 below-path0
ec path0-ca P-256;        issue path0-ca '/CN=Below Path 0' path0 "$CA";  below path0-ca below-path0-ca
ec constrained P-256;     issue constrained '/CN=Constrained' root "$CA"'nameConstraints=permitted;DNS:other.example\n'; below constrained below-constrained
ec other-root P-256;      issue other-root '/O=Test Roots/CN=Test Root' other-root "$CA"

# Anybody can sign with an exponent of 1. openssl makes no such key, but certifies it.
{
  printf 'asn1=SEQUENCE:spki\n[spki]\nalgorithm=SEQUENCE:rsa\nkey=BITWRAP,SEQUENCE:numbers\n[rsa]\nid=OID:rsaEncryption\nnone=NULL\n[numbers]\n'
  printf 'n=INTEGER:0x%s\ne=INTEGER:1\n' "$(openssl rsa -in rsa2048.key -noout -modulus | cut -d= -f2)"
} > exponent1.cnf
openssl asn1parse -genconf exponent1.cnf -noout -out exponent1.der
openssl pkey -pubin -inform DER -in exponent1.der -out exponent1.pub
cp rsa2048.key exponent1.key; issue exponent1 '/CN=shop.example' intermediate "$LEAF$SHOP" -force_pubkey exponent1.pub
rm exponent1.cnf exponent1.der exponent1.pub exponent1.key

rm -f expired.key no-san.key no-subject.key no-name.key wrong-usage.key wrong-purpose.key critical.key unknown.key self-signed.key sha1.key \
  below-*.key no-ca.key no-constraints.key no-sign.key path0.key path0-ca.key constrained.key other-root.key intermediate.key root.key ec-root.key
