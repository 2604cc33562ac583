// The tables of constants behind the passes, and the order of the passes.
#include "quotient.cuh"
#include "../field/fr_memory.cuh"

namespace cuzk {

// powers[i] = g^(2^i), Montgomery form.
DEVICE Fr power(const Fr* powers, uint64_t e)
{
    Fr x = powers[31]; // one
    NO_UNROLL for (int i = 0; e; i++, e >>= 1)
        if (e & 1) x = reduce(mul_mont(x, powers[i]));
    return x;
}

// w (Montgomery form, below r) -> w itself and floor(w 2^256 / r) = -(w 2^256 mod r) / r mod 2^256.
DEVICE void shoup_pair(const Fr& w, Fr& plain, Fr& quot)
{
    Fr one = {{1, 0, 0, 0, 0, 0, 0, 0}};
    plain = reduce(mul_mont(w, one));
    uint32_t acc[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    UNROLL for (int i = 0; i < 8; i++) {
        uint64_t carry = 0;
        UNROLL for (int j = 0; j < 8 - i; j++) {
            carry += (uint64_t)w.v[i] * fr_constants::NINV[j] + acc[i + j];
            acc[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    UNROLL for (int i = 0; i < 8; i++) quot.v[i] = acc[i];
}

DEVICE void put_pair(uint4* row, size_t n, size_t i, const Fr& w)
{
    Fr plain, quot;
    shoup_pair(w, plain, quot);
    row[i] = half0(plain); row[n + i] = half1(plain); row[2 * n + i] = half0(quot); row[3 * n + i] = half1(quot);
}

// Rows x of 2^lg_len entries y: scale * g^(x y), with 2x + 1 or 2y + 1 for x or y if odd. by_entry: an entry's four
// uint4 lie together.
KERNEL(256, 1) twiddle_table(uint4* out, uint32_t rows, int lg_len, bool odd_x, bool odd_y, const Fr* powers, Fr scale, bool by_entry)
{
    size_t len = (size_t)1 << lg_len, total = (size_t)rows << lg_len;
    for (size_t id = blockIdx.x * (size_t)blockDim.x + threadIdx.x; id < total; id += (size_t)gridDim.x * blockDim.x) {
        uint64_t x = id >> lg_len, y = id & (len - 1);
        uint64_t e = (odd_x ? 2 * x + 1 : x) * (odd_y ? 2 * y + 1 : y);
        Fr w = reduce(mul_mont(power(powers, e), scale));
        if (by_entry) put_pair(out + 4 * id, 1, 0, w); else put_pair(out + 4 * len * x, len, y, w);
    }
}

// The twiddles of Tile<m>::dft: for the first step [p - 1] rows of T; for the second, [u - 1][p - 1] eight numbers for
// mul_split_rows. g of order 2^m.
KERNEL(256, 1) core_table(uint4* out, int m, const Fr* powers, Fr split)
{
    uint32_t T = 1u << (m - 3), R = T / 8 ? T / 8 : 1;
    for (uint32_t id = blockIdx.x * blockDim.x + threadIdx.x; id < 7 * (T + R - 1); id += gridDim.x * blockDim.x) {
        if (id < 7 * T) {
            uint32_t u = id & (T - 1), p = id / T + 1;
            put_pair(out + (size_t)(id / T) * 4 * T, T, u, power(powers, (uint64_t)u * p));
        } else {
            uint32_t i = id - 7 * T, p = i % 7 + 1, u = i / 7 + 1;
            Fr w = reduce(mul_mont(power(powers, (uint64_t)8 * u * p), split)), step = {{0, 1, 0, 0, 0, 0, 0, 0}}, rr;
            UNROLL for (int k = 0; k < 8; k++) rr.v[k] = fr_constants::RR[k];
            step = reduce(mul_mont(rr, step)); // 2^32
            for (int k = 0; k < 8; k++) {
                Fr one = {{1, 0, 0, 0, 0, 0, 0, 0}}, y = reduce(mul_mont(w, one));
                out[28 * T + i * 16 + 2 * k] = half0(y); out[28 * T + i * 16 + 2 * k + 1] = half1(y);
                w = reduce(mul_mont(w, step));
            }
        }
    }
}

Digits digits_of(uint32_t log_n)
{
    static const Digits cuts[] = {{3, 3, 3}, {4, 3, 3}, {4, 4, 3}, {4, 4, 4}, {6, 4, 3}, {6, 4, 4}, {6, 6, 3}, {6, 6, 4},
                                  {7, 6, 4}, {6, 6, 6}, {7, 6, 6}, {8, 6, 6}, {7, 7, 7}, {8, 8, 6}, {9, 8, 6}, {9, 9, 6},
                                  {9, 8, 8}, {9, 9, 8}, {9, 9, 9}};
    if (log_n < kLeastLogDomain || log_n > kMostLogDomain)
        UNSUPPORTED("a domain of 2^" + std::to_string(log_n) + ", where 2^9 to 2^27 can be transformed");
    return cuts[log_n - kLeastLogDomain];
}

// Lays out the tables in `memory` and fills them.
class TableMaker {
    const Device& device;
    Carver carver;
    const bool fill;
    Fr* powers;                         // of the inverse root of order 2^32: powers[k] has order 2^(32-k), the last are one

    static Fr constant(const uint32_t (&limbs)[8])
    {
        Fr x;
        memcpy(x.v, limbs, 32);
        return x;
    }

public:
    TableMaker(const Device& device, void* memory) : device(device), carver(memory), fill(memory != nullptr)
    {
        static const int kPowers = 65;
        powers = carver.take<Fr>(kPowers);
        if (!fill)
            return;
        Fr* staged = (Fr*)device.pinned;
        for (int i = 0; i < kPowers; i++)
            staged[i] = constant(INV_ROOT[i < 32 ? 32 - i : 0]);
        CHECK(cudaMemcpyAsync(powers, staged, kPowers * sizeof(Fr), cudaMemcpyHostToDevice, device.main));
        CHECK(cudaStreamSynchronize(device.main));
    }

    const uint4* core(int m)
    {
        uint4* out = carver.take<uint4>((28u << (m - 3)) + 7 * 7 * 16);
        if (fill)
            LAUNCH(core_table, 16, 256, 0, device.main, out, m, (const Fr*)powers + 32 - m, constant(TWO64));
        return out;
    }

    // 2^lg_x rows of 2^lg_y powers of the root of order 2^order, times 2^-halvings.
    const uint4* rows(int lg_x, int lg_y, int order, bool odd_x, bool odd_y, int halvings, bool by_entry = false)
    {
        uint4* out = carver.take<uint4>((size_t)4 << (lg_x + lg_y));
        if (fill)
            LAUNCH(twiddle_table, device.light_grid(), 256, 0, device.main, out, 1u << lg_x, lg_y, odd_x, odd_y,
                   (const Fr*)powers + 32 - order, constant(HALF_POW[halvings]), by_entry);
        return out;
    }

    size_t bytes() const { return carver.bytes(); }
};

static QuotientTables lay_out(TableMaker& make, Digits d)
{
    const int m0 = d.m0, m1 = d.m1, m2 = d.m2, log_n = m0 + m1 + m2;
    QuotientTables tables;
    tables.digits = d;
    tables.core[0] = make.core(m0);
    tables.core[1] = make.core(m1);
    tables.core[2] = make.core(m2);
    tables.value_twiddle = make.rows(m1, m0, m0 + m1, false, false, 0);
    tables.value_twiddle_across = make.rows(m0, m1, m0 + m1, false, false, 0);
    tables.mid_twiddle = make.rows(m2, m1, m1 + m2, false, false, 0);
    tables.turn_twiddle = make.rows(m1, m2, m1 + m2 + 1, false, true, 0);
    tables.back_twiddle = make.rows(m2, m1, m1 + m2 + 1, true, false, 0);
    tables.mid_scalar = make.rows(m0, m2, log_n, false, false, log_n + 1, true);        // 1 / (2n)
    tables.coset_scalar = make.rows(m0, m2, log_n + 1, false, true, 0, true);
    tables.turn_weight = make.rows(0, m2, m2 + 1, true, false, 0);
    tables.last_weight = make.rows(0, m2, m2 + 1, true, false, log_n - 1);              // 2 / n
    return tables;
}

size_t quotient_table_bytes(Digits digits)
{
    Device none = Device();
    TableMaker make(none, nullptr);
    lay_out(make, digits);
    return make.bytes();
}

QuotientTables make_quotient_tables(const Device& device, Digits digits, void* memory)
{
    TableMaker make(device, memory);
    QuotientTables tables = lay_out(make, digits);
    CHECK(cudaStreamSynchronize(device.main));
    return tables;
}

void run_quotient(const Device& device, const QuotientTables& tables, Arrays v)
{
    run_first_pass(device, tables, v, 0, 3);
    run_mid_pass_to_coefficients(device, tables, v, 3);
    run_turn_pass(device, tables, v);
    run_mid_pass_to_values(device, tables, v);
    run_meet_pass(device, tables, v);
    run_mid_pass_back(device, tables, v);
    run_last_pass(device, tables, v);
}

void run_half_inverse(const Device& device, const QuotientTables& tables, Fr* x)
{
    Arrays v = {{x, x, x}};
    run_first_pass(device, tables, v, 0, 1);
    run_mid_pass_to_coefficients(device, tables, v, 1);
    run_end_pass(device, tables, x);
}

}  // namespace cuzk
