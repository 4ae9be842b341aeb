using Microsoft.AspNetCore.Server.Kestrel.Core;

namespace Voron.Documents.Web;

/// <summary>A store of documents over HTTP, with a page for browsers.</summary>
/// <remarks>It knows no users: a store that is not for all who reach its port needs a proxy before it that asks who they are.</remarks>
public static class DocumentServer
{
    /// <summary>Creates a server. The caller starts and stops it, and closes the store behind it.</summary>
    /// <param name="store">The store.</param>
    /// <param name="options">Limits; null for the defaults.</param>
    public static WebApplication Create(DocumentStore store, ServerOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(store);
        options ??= new ServerOptions();
        var builder = WebApplication.CreateSlimBuilder(new WebApplicationOptions { ApplicationName = "documents" });
        builder.WebHost.UseUrls(options.Url);
        builder.Services.Configure<HostOptions>(host => host.ShutdownTimeout = TimeSpan.FromSeconds(20));
        builder.Services.Configure<KestrelServerOptions>(server =>
        {
            server.AddServerHeader = false;
            server.Limits.MaxRequestBodySize = options.MaxDocumentBytes;
        });
        WebApplication? app = null;
        builder.Logging.ClearProviders();
        if (options.Logging != null)
        {
            options.Logging(builder.Logging);
        }
        else
        {
            // A start that fails throws the reason to its caller, who tells it: the host would log the stack beside it.
            builder.Logging.AddSimpleConsole().AddFilter((_, level) =>
                level >= LogLevel.Warning && app?.Lifetime.ApplicationStarted.IsCancellationRequested == true);
        }

        builder.Services.AddHostedService(services =>
            new ExpiryService(store, options, services.GetRequiredService<ILogger<ExpiryService>>()));
        app = builder.Build();
        app.Use(Problems.AnswerAsync);
        app.Use(OriginCheck.CheckAsync);
        PageEndpoints.Map(app);
        new CollectionEndpoints(store).Map(app);
        new DocumentEndpoints(store, options).Map(app);
        new BulkEndpoint(store, options).Map(app);
        new QueryEndpoints(store).Map(app);
        new AttachmentEndpoints(store, options).Map(app);
        new WatchEndpoint(store, options, app.Lifetime.ApplicationStopping).Map(app);
        return app;
    }
}
