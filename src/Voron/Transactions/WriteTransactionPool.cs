using System.Diagnostics;
using Voron.Primitives;

namespace Voron.Transactions;

/// <summary>Begins write transactions for the holder of the writer. A pool of one: each transaction uses the same body.</summary>
/// <remarks>
/// While a transaction is open, only its own handles refer to the body; neither this object, nor the writer, nor the environment does. A
/// transaction that was never ended therefore becomes garbage, and the body's finalizer notices it. The finalizer only schedules
/// <see cref="WriteTransactionBody.EndAbandoned"/>, which runs on the thread pool after a while. No other thread can race with the rollback there:
/// its caller would have to hold a handle, and then the body would not have been garbage. Two cases remain that no reference shows. One is a
/// user's own finalizer that holds a handle; <see cref="WriteTransactionBody.TryClaim"/> keeps it from ending the transaction a second time. The
/// other is a span, perhaps reserved for writing, that is in use on some stack when the last handle is gone. Because of that span, frames are not
/// reused immediately: see <see cref="StorageOptions.LeakGrace"/>.
/// </remarks>
internal sealed class WriteTransactionPool
{
    private readonly Engine _engine;
    private readonly SingleWriter _writer;
    private readonly Parking<WriteTransactionBody> _parking = new();
    private int _thread;

    public WriteTransactionPool(Engine engine, SingleWriter writer)
    {
        _engine = engine;
        _writer = writer;
        _parking.Put(new WriteTransactionBody(engine, writer, _parking));
    }

    /// <summary>Returns whether a thread began the open transaction in a blocking call. False for a pool thread.</summary>
    public bool IsOpenBy(int thread)
    {
        // Read twice: the transaction that is open may be the next one, of another thread.
        return Volatile.Read(ref _thread) == thread && IsOpen && Volatile.Read(ref _thread) == thread;
    }

    /// <summary>True while a transaction is open. Any thread may read it; the result may be outdated immediately.</summary>
    public bool IsOpen => _parking.Peek() == null;

    /// <summary>Starts a transaction. The writer is held.</summary>
    /// <param name="thread">The thread, not a pool thread, that begins it in a blocking call; otherwise 0.</param>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public WriteTransactionBody Begin(int thread = 0)
    {
        _writer.AssertHeld();
        Volatile.Write(ref _thread, thread);
        if (_writer.HasDeferred)
            _writer.RunDeferred();
        _engine.Users.AddWriter();
        try
        {
            return BeginCounted();
        }
        catch
        {
            _engine.Users.RemoveWriter();
            throw;
        }
    }

    /// <summary>Forgets the body, and the memory that it kept. Called when the last user of the environment has ended.</summary>
    public void Forget()
    {
        _writer.WritePages.Unpacker.Arena.Free();

        // Without a body in the pool, a transaction seems to be open. It is not the caller's, whose call may have begun before the close.
        Volatile.Write(ref _thread, 0);
        _parking.Take();
    }

    private WriteTransactionBody BeginCounted()
    {
        var body = _parking.Peek() ?? throw new UnreachableException("The writer was free, but its transaction body is in use.");
        var openedAt = _engine.Options.CaptureTransactionStacks ? new StackTrace(3, fNeedFileInfo: false) : null;
        body.Begin(openedAt);
        _writer.NoteOrigin(openedAt);
        _parking.Take();
        return body;
    }
}
