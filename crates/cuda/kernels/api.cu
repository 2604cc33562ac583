#include "api.h"
#include "msm/msm.cuh"
#include "quotient/quotient.cuh"
#include "witness/witness.cuh"

#include <memory>

using namespace cuzk;

struct CuzkDevice : Device {};
struct CuzkQuotient : QuotientTables {};

static void copy_text(char* to, size_t size, const std::string& from)
{
    const size_t length = from.size() < size ? from.size() : size - 1;
    memcpy(to, from.data(), length);
    to[length] = 0;
}

static int report(CuzkError* error, const Failure& failure)
{
    error->code = failure.code;
    error->line = failure.line;
    const char* name = strrchr(failure.file, '/');
    copy_text(error->file, sizeof error->file, name ? name + 1 : failure.file);
    copy_text(error->call, sizeof error->call, failure.call);
    copy_text(error->text, sizeof error->text, failure.text);
    // CUDA keeps a failed call as the thread's last error, which the next launch would report as its own.
    (void)cudaGetLastError();
    return failure.code;
}

// For calls whose failure has no one left to hear it.
static void ignore(cudaError_t error)
{
    if (error != cudaSuccess)
        (void)cudaGetLastError();
}

// No exception crosses the boundary.
template<class F> static int guarded(CuzkError* error, const F& body)
{
    try {
        body();
        return 0;
    } catch (const Failure& failure) {
        return report(error, failure);
    } catch (const std::exception& exception) {
        return report(error, Failure{kNoMemory, __FILE__, __LINE__, "host", exception.what()});
    }
}

// On the device's thread-current setting: every entry says which device it means.
template<class F> static int on_device(const CuzkDevice* device, CuzkError* error, const F& body)
{
    return guarded(error, [&] {
        CHECK(cudaSetDevice(device->ordinal));
        body();
    });
}

static int device_count(int32_t* count, CuzkError* error)
{
    return guarded(error, [&] {
        int found = 0;
        CHECK(cudaGetDeviceCount(&found));
        *count = found;
    });
}

static int describe(int32_t ordinal, char* name, char* bus_id, uint32_t size, CuzkError* error)
{
    return guarded(error, [&] {
#ifdef CUZK_EMULATE
        copy_text(name, size, "emulated device");
        copy_text(bus_id, size, std::to_string(ordinal));
#else
        cudaDeviceProp properties;
        CHECK(cudaGetDeviceProperties(&properties, ordinal));
        copy_text(name, size, properties.name);
        CHECK(cudaDeviceGetPCIBusId(bus_id, (int)size, ordinal));
#endif
    });
}

static void close(CuzkDevice* device)
{
    ignore(cudaSetDevice(device->ordinal));
    for (cudaStream_t stream : {device->main, device->side})
        ignore(cudaStreamDestroy(stream));
    for (int i = 0; i < 2; i++) {
        ignore(cudaEventDestroy(device->counted[i]));
        ignore(cudaEventDestroy(device->planned[i]));
        ignore(cudaEventDestroy(device->added[i]));
    }
    ignore(cudaEventDestroy(device->begun));
    ignore(cudaFree(device->scratch));
    ignore(cudaFreeHost(device->pinned));
    delete device;
}

static uint32_t multiprocessors_of(int ordinal)
{
#ifdef CUZK_EMULATE
    (void)ordinal;
    return 1;
#else
    int count = 0;
    CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, ordinal));
    return (uint32_t)count;
#endif
}

static int open(int32_t ordinal, CuzkDevice** out, CuzkError* error)
{
    return guarded(error, [&] {
        std::unique_ptr<CuzkDevice> device(new CuzkDevice());
        device->ordinal = ordinal;
        CHECK(cudaSetDevice(ordinal));
        device->multiprocessors = multiprocessors_of(ordinal);
        int least, greatest;
        CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
        CHECK(cudaStreamCreateWithPriority(&device->main, cudaStreamNonBlocking, least));
        CHECK(cudaStreamCreateWithPriority(&device->side, cudaStreamNonBlocking, greatest));
        for (int i = 0; i < 2; i++)
            for (cudaEvent_t* event : {&device->counted[i], &device->planned[i], &device->added[i]})
                CHECK(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
        CHECK(cudaEventCreateWithFlags(&device->begun, cudaEventDisableTiming));
        CHECK(cudaMalloc((void**)&device->scratch, 256));
        CHECK(cudaMallocHost((void**)&device->pinned, Device::kPinnedBytes));
        *out = device.release();
    });
}

static int memory(CuzkDevice* device, uint64_t* free_bytes, uint64_t* total_bytes, CuzkError* error)
{
    return on_device(device, error, [&] {
        size_t free_size, total;
        CHECK(cudaMemGetInfo(&free_size, &total));
        *free_bytes = free_size;
        *total_bytes = total;
    });
}

static int allocate(CuzkDevice* device, uint64_t bytes, void** out, CuzkError* error)
{   return on_device(device, error, [&] { CHECK(cudaMalloc(out, bytes)); });   }

static void release(CuzkDevice* device, void* device_memory)
{
    ignore(cudaSetDevice(device->ordinal));
    ignore(cudaFree(device_memory));
}

static int allocate_pinned(CuzkDevice* device, uint64_t bytes, void** out, CuzkError* error)
{   return on_device(device, error, [&] { CHECK(cudaMallocHost(out, bytes)); });   }

static void release_pinned(CuzkDevice* device, void* memory)
{
    ignore(cudaSetDevice(device->ordinal));
    ignore(cudaFreeHost(memory));
}

static int pin(CuzkDevice* device, void* memory, uint64_t bytes, CuzkError* error)
{   return on_device(device, error, [&] { CHECK(cudaHostRegister(memory, bytes, cudaHostRegisterPortable)); });   }

static void unpin(CuzkDevice* device, void* memory)
{
    ignore(cudaSetDevice(device->ordinal));
    ignore(cudaHostUnregister(memory));
}

static int upload(CuzkDevice* device, void* to, const void* from, uint64_t bytes, CuzkError* error)
{   return on_device(device, error, [&] { CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, device->main)); });   }

static int download(CuzkDevice* device, void* to, const void* from, uint64_t bytes, CuzkError* error)
{
    return on_device(device, error, [&] {
        CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, device->main));
        CHECK(cudaStreamSynchronize(device->main));
    });
}

static int copy(CuzkDevice* device, void* to, const void* from, uint64_t bytes, CuzkError* error)
{   return on_device(device, error, [&] { CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, device->main)); });   }

static int fill(CuzkDevice* device, void* to, uint8_t byte, uint64_t bytes, CuzkError* error)
{   return on_device(device, error, [&] { CHECK(cudaMemsetAsync(to, byte, bytes, device->main)); });   }

static int wait(CuzkDevice* device, CuzkError* error)
{   return on_device(device, error, [&] { CHECK(cudaStreamSynchronize(device->main)); });   }

static int quotient_digits(uint32_t log_n, CuzkDigits* digits, CuzkError* error)
{
    return guarded(error, [&] {
        const Digits d = digits_of(log_n);
        *digits = CuzkDigits{{(uint32_t)d.m0, (uint32_t)d.m1, (uint32_t)d.m2}};
    });
}

static Digits digits_from(const CuzkDigits& digits)
{
    for (uint32_t digit : digits.digit)
        with_digit((int)digit, [](auto) {});    // refuses what is not compiled
    return Digits{(int)digits.digit[0], (int)digits.digit[1], (int)digits.digit[2]};
}

static int quotient_bytes(const CuzkDigits* digits, uint64_t* bytes, CuzkError* error)
{   return guarded(error, [&] { *bytes = quotient_table_bytes(digits_from(*digits)); });   }

static int quotient_create(CuzkDevice* device, const CuzkDigits* digits, void* device_memory, CuzkQuotient** out, CuzkError* error)
{
    return on_device(device, error, [&] {
        std::unique_ptr<CuzkQuotient> quotient(new CuzkQuotient());
        (QuotientTables&)*quotient = make_quotient_tables(*device, digits_from(*digits), device_memory);
        *out = quotient.release();
    });
}

static void quotient_destroy(CuzkQuotient* quotient) { delete quotient; }

static int quotient_run(CuzkDevice* device, const CuzkQuotient* quotient, void* a, void* b, void* c, CuzkError* error)
{   return on_device(device, error, [&] { run_quotient(*device, *quotient, Arrays{{(Fr*)a, (Fr*)b, (Fr*)c}}); });   }

static int half_inverse(CuzkDevice* device, const CuzkQuotient* quotient, void* x, CuzkError* error)
{   return on_device(device, error, [&] { run_half_inverse(*device, *quotient, (Fr*)x); });   }

// Calls `body` with an element of the curve's coordinate field, for its type.
template<class Body> static void with_field(uint32_t is_g2, const Body& body)
{
    if (is_g2)
        body(Fp2());
    else
        body(Fp());
}

static WindowLayout layout_of(const CuzkMsm& msm)
{
    if (msm.windows == 0)
        return WindowLayout::best_for(msm.count);
    if (msm.windows < 10 || msm.windows > 51 || msm.windows_per_batch == 0)
        UNSUPPORTED(std::to_string(msm.windows) + " windows, where 10 to 51 are possible");
    return WindowLayout::of(msm.windows, msm.windows_per_batch);
}

static int msm_bytes(CuzkDevice* device, const CuzkMsm* msm, uint64_t* bytes, CuzkLayout* layout, CuzkError* error)
{
    return on_device(device, error, [&] {
        const WindowLayout chosen = layout_of(*msm);
        layout->windows = chosen.windows;
        layout->side_bits = chosen.side_bits;
        layout->tiles = chosen.tiles;
        for (uint32_t w = 0; w < chosen.windows; w++) {
            layout->bits[w] = chosen.bits[w];
            layout->tiles_of_window[w] = chosen.tiles_of_window[w];
        }
        with_field(msm->is_g2, [&](auto field) {
            Carver carver(nullptr);
            Msm<decltype(field)> planned(*device, carver, chosen, msm->count);
            *bytes = carver.bytes();
        });
    });
}

static int msm_run(CuzkDevice* device, const CuzkMsm* msm, void* workspace, void* points, CuzkError* error)
{
    return on_device(device, error, [&] {
        const Bases bases = {(const uint4*)msm->device_bases, msm->bases_count};
        const Terms terms = {(const uint4*)msm->device_scalars, msm->device_scalar_of, msm->device_base_of, msm->count};
        with_field(msm->is_g2, [&](auto field) {
            Carver carver(workspace);
            Msm<decltype(field)>(*device, carver, layout_of(*msm), msm->count).run(bases, terms, points);
        });
    });
}

// Memory of a sum over ones: the list of indices, then listing or adding, one after the other.
template<class F> struct OnesSpace {
    uint32_t* indices;
    void* listing;
    PointSum<F> sum;

    OnesSpace(const Device& device, Carver& carver, const CuzkOnes& ones)
        : indices(carver.take<uint32_t>(ones.bases_count - ones.first_base)),
          listing(carver.take<char>(ones_workspace_bytes(ones.words))),
          sum(device, carver, ones.bases_count - ones.first_base)
    {}
};

static int ones_bytes(CuzkDevice* device, const CuzkOnes* ones, uint64_t* bytes, CuzkError* error)
{
    return on_device(device, error, [&] {
        with_field(ones->is_g2, [&](auto field) {
            Carver carver(nullptr);
            OnesSpace<decltype(field)> space(*device, carver, *ones);
            *bytes = carver.bytes();
        });
    });
}

static int ones_run(CuzkDevice* device, const CuzkOnes* ones, void* workspace, void* point, CuzkError* error)
{
    return on_device(device, error, [&] {
        const Bases bases = {(const uint4*)ones->device_bases, ones->bases_count};
        const OnesQuery query = {(const unsigned long long*)ones->device_bits, (const unsigned long long*)ones->device_density,
                                 ones->device_ranks, ones->words, ones->first_base - ones->first_rank};
        with_field(ones->is_g2, [&](auto field) {
            Carver carver(workspace);
            OnesSpace<decltype(field)> space(*device, carver, *ones);
            const uint32_t count = list_ones(*device, query, space.indices, space.listing);
            space.sum.run(bases, space.indices, count, point);
        });
    });
}

static int api_make_plain(CuzkDevice* device, void* values, uint64_t count, CuzkError* error)
{   return on_device(device, error, [&] { make_plain(*device, (Fr*)values, count); });   }

static int api_make_dictionary(CuzkDevice* device, void* plain, void* twice, const void* montgomery, uint32_t count, CuzkError* error)
{   return on_device(device, error, [&] { make_dictionary(*device, (Fr*)plain, (Fr*)twice, (const Fr*)montgomery, count); });   }

static int api_place_bits(CuzkDevice* device, void* words, const uint64_t* bits, uint32_t count, CuzkError* error)
{   return on_device(device, error, [&] { place_bits(*device, (ulonglong2*)words, (const unsigned long long*)bits, count); });   }

static_assert(kShortRow == CUZK_SHORT_ROW, "both sides must agree which rows are long");

static int api_evaluate(CuzkDevice* device, void* out, const CuzkRows* rows, const CuzkDictionary* dictionary, const CuzkWitness* witness, CuzkError* error)
{
    return on_device(device, error, [&] {
        const MatrixRows matrix_rows = {rows->device_row_ptr, rows->device_columns, rows->device_coefficients, rows->device_links, rows->device_long_rows, rows->num_long,
                                        rows->rows, rows->copies, rows->aux_stride, rows->num_links, rows->first_row};
        const Dictionary forms = {(const Fr*)dictionary->device_factors, (const Fr*)dictionary->device_terms, dictionary->one, dictionary->minus_one};
        const Witness values = {(const Fr*)witness->device_values, (const ulonglong2*)witness->device_words, witness->device_ranks, witness->num_inputs};
        evaluate(*device, (Fr*)out, matrix_rows, forms, values);
    });
}

static int api_decode_points(CuzkDevice* device, void* out, const void* encoded, uint32_t first, uint32_t count, uint32_t is_g2, uint32_t reversed_bits, CuzkError* error)
{   return on_device(device, error, [&] { decode_points(*device, out, encoded, first, count, is_g2 ? 4 : 2, reversed_bits); });   }

// Calls `body` with an adder in memory of its own, begun on the device's stream, and waits for what it was given.
template<class F, class Body> static void with_adder(const CuzkDevice& device, const Body& body)
{
    Carver sizing(nullptr);
    Adder<F>(device, sizing);
    void* memory;
    CHECK(cudaMalloc(&memory, sizing.bytes()));
    std::unique_ptr<void, void (*)(void*)> workspace(memory, [](void* p) { ignore(cudaFree(p)); });
    Carver carver(memory);
    Adder<F> adder(device, carver);
    adder.begin(device.main);
    body(adder);
    CHECK(cudaStreamSynchronize(device.main));
}

static int extend_points(CuzkDevice* device, void* points, uint32_t have, uint32_t count, uint32_t is_g2, CuzkError* error)
{
    return on_device(device, error, [&] {
        with_field(is_g2, [&](auto field) {
            typedef decltype(field) F;
            with_adder<F>(*device, [&](Adder<F>& adder) {
                for (uint32_t k = 0, made = have; made < count; made *= 2, k++)
                    adder.add(ShiftedPoints<F>{(uint4*)points, count + k, made}, made < count - made ? made : count - made, device->main);
            });
        });
    });
}

static int multiply_fixed(CuzkDevice* device, const CuzkMultiples* multiples, CuzkError* error)
{
    return on_device(device, error, [&] {
        const CuzkMultiples& m = *multiples;
        if (m.digit_bits == 0 || m.digit_bits > 16 || 32 % m.digit_bits != 0)
            UNSUPPORTED(std::to_string(m.digit_bits) + " bits a digit, where 1, 2, 4, 8 or 16 are possible");
        with_field(m.is_g2, [&](auto field) {
            typedef decltype(field) F;
            const size_t point_words = 2 * kWords<F>;
            CHECK(cudaMemsetAsync(m.device_points, 0, m.count * point_words * sizeof(uint4), device->main));
            with_adder<F>(*device, [&](Adder<F>& adder) {
                for (uint32_t bit = 0; bit < 256; bit += m.digit_bits) {
                    const size_t first_entry = (size_t)(bit / m.digit_bits) << m.digit_bits;
                    const uint4* table = (const uint4*)m.device_table + first_entry * point_words;
                    adder.add(TableEntries<F>{(uint4*)m.device_points, table, (const uint32_t*)m.device_scalars, m.count, bit, m.digit_bits},
                              m.count, device->main);
                }
            });
        });
    });
}

static int api_first_off_curve(CuzkDevice* device, const void* points, uint32_t count, uint32_t is_g2, uint32_t* first, CuzkError* error)
{
    return on_device(device, error, [&] {
        *first = is_g2 ? first_off_curve_g2(*device, points, count) : first_off_curve_g1(*device, points, count);
    });
}

#ifdef CUZK_EMULATE
extern "C" const CuzkApi* cuzk_emulated_device_api(void)
#else
extern "C" const CuzkApi* cuzk_device_api(void)
#endif
{
    static const CuzkApi api = {
        device_count, describe, open, close, memory, allocate, release, allocate_pinned, release_pinned, pin, unpin, upload, download, copy, fill,
        wait, quotient_digits, quotient_bytes, quotient_create, quotient_destroy, quotient_run, half_inverse, msm_bytes, msm_run, ones_bytes,
        ones_run, api_make_plain, api_make_dictionary, api_place_bits, api_evaluate, api_decode_points, extend_points,
        multiply_fixed, api_first_off_curve,
    };
    return &api;
}
